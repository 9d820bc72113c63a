"""Rows in and out of files: CSV, JSON, Parquet, XLSX."""
