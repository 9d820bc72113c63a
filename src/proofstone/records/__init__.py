"""The rows that everything else exchanges, frozen."""
