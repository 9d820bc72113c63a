"""PDF: characters with boxes to lines, columns, headings, paragraphs and pages."""
