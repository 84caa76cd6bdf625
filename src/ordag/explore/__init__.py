"""The workbench: a state of the page in, answers out, over the loopback address; the page itself is in `browser/`."""
