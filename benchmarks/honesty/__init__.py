"""Does the tool say what is true of it? Tables of many kinds, with what the verdict said beside what there was."""
