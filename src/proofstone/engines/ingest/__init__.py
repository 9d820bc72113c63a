"""Files to rows, documents to passages, and rows back to files; every problem with its place."""

from proofstone.engines.ingest.documents import DOCUMENT_SUFFIXES, Document, read_documents
from proofstone.engines.ingest.fields import Fields, came, read_identity, read_json
from proofstone.engines.ingest.languages import UNDETERMINED, guess_language, read_language_code
from proofstone.engines.ingest.lines import LINE_LIMIT
from proofstone.engines.ingest.rows import (
    SUFFIXES,
    RowReader,
    TellUnread,
    read_checked,
    read_rows,
    table_suffix,
)
from proofstone.engines.ingest.writing import check_target, write_rows

__all__ = [
    "DOCUMENT_SUFFIXES",
    "LINE_LIMIT",
    "SUFFIXES",
    "UNDETERMINED",
    "Document",
    "Fields",
    "RowReader",
    "TellUnread",
    "came",
    "check_target",
    "guess_language",
    "read_checked",
    "read_documents",
    "read_identity",
    "read_json",
    "read_language_code",
    "read_rows",
    "table_suffix",
    "write_rows",
]
