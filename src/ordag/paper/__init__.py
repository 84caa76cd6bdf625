"""Names of the paper's figures and tables in, the same numbers made anew out."""
