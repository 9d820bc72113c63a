"""The report kit: tables, figures and HTML pages."""
