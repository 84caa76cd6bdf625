"""Random inputs for the property tests."""
