"""The methods that come with it: one folder a paper, all of one shape."""
