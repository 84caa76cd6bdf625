"""What is known beforehand in, masks over pairs of columns out."""
