"""DOCX: the paragraphs, tables, notes and formulas of a word processor's file as blocks."""
