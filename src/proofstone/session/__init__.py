"""A workspace in use: folder, configuration, egress, models, progress."""
