"""Data: every source opened as a `Table`, and its `Moments`."""
