"""The methods: each takes a table and settings and returns a graph with its evidence."""
