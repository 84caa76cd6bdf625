"""What all rooms share: arrays, triangular matrices, words, plain values, settings, files, processes here and on a cluster."""
