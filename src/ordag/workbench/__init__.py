"""The workbench: a server on the loopback address that learns what its page, in `browser/`, asks for."""
