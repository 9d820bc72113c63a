"""Ask models, run the request loop, and score responses."""
