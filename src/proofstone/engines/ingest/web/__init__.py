"""HTML: its elements to blocks, without what stands around the text on every page of a site."""
