"""The search over orders of the variables that every score which is a sum over variables can have: `engine`, and its loops, `kernel`."""
