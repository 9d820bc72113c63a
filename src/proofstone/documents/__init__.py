"""Read documents of each format into text, passages and pages."""
