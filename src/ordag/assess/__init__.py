"""What speaks for and against a learned graph: what its order, arrows and directions rest on, and how its assumptions hold."""
