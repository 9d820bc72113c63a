"""Search in what was read, in Wikipedia and on the web."""
