"""Methods: one folder a paper, all of one shape. See docs/methods.md."""
