"""EPUB: the chapters of a book as blocks, in the order in which it is read."""
