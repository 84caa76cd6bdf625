"""Everything that shows a fit: terminal, notebook, report, pictures, files."""
