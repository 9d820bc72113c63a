"""The tables of a page as files: every table, as flat rows for programs and as TeX for papers."""

from proofstone.report.table_files.csv_rows import flat_rows
from proofstone.report.table_files.page_table import PageTable
from proofstone.report.table_files.page_tables import LONG_TABLES, long_tables, page_tables
from proofstone.report.table_files.tex_table import tex_table
from proofstone.report.table_files.tex_text import tex_paragraphs, tex_text

__all__ = [
    "LONG_TABLES",
    "PageTable",
    "flat_rows",
    "long_tables",
    "page_tables",
    "tex_paragraphs",
    "tex_table",
    "tex_text",
]
