"""Reading PDF files: lines, blocks, tables and headings of a page."""
