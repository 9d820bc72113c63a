"""ZIM: the articles of an offline wiki."""
