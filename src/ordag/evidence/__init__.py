"""The evidence for a learned graph: what its order, arrows and directions rest on, and what speaks against them."""
