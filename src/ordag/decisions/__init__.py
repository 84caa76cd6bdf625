"""From a graph to a decision: test it on data, adjust for variables, compare two tables, explain rows."""
