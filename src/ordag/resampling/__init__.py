"""Learning again from resamples of the data."""
