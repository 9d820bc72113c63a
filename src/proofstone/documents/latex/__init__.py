"""Reading LaTeX sources."""
