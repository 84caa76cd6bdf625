"""Adjacency in, graphs out: their structure, their text formats, and the distances between them."""
