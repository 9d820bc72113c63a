"""Read and write rows: CSV, JSON, Parquet, XLSX."""
