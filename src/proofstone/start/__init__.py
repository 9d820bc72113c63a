"""The first steps: the demonstration and the guided start."""
