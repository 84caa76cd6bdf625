"""What a learner found in, what its order, arrows and directions rest on out."""
