"""The store: one database for all records; the only SQL in the package."""
