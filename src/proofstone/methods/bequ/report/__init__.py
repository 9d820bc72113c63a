"""Report page and tables of triple benchmarks."""
