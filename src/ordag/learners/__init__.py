"""Settings and a table in, a fitted estimator out: one method, one file."""
