"""Readers of documents: text, passages and pages of each format."""
