"""Measurements: each file is one question, its `run()` gives the answer as Markdown."""
