"""Store all records in one database; the only SQL in the package."""
