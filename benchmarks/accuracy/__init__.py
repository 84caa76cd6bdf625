"""How near is the learned graph to the true one? Ordag's methods and other packages on the same random tables."""
