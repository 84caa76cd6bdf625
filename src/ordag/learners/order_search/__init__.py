"""The search over orders of the variables for a score that is a sum over variables, or is bounded by one."""
