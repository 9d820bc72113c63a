"""Reading scanned pages."""
