"""Files to rows, documents to pages and passages, rows to files; every problem with its place."""

from proofstone.engines.ingest.cutting import BETWEEN_TITLES
from proofstone.engines.ingest.documents import (
    DOCUMENT_SUFFIXES,
    Document,
    bare_name,
    read_documents,
    readable_name,
)
from proofstone.engines.ingest.editions import Edition, EditionStatus, Held, hold, resting_on
from proofstone.engines.ingest.fields import Fields, came, read_identity, read_json
from proofstone.engines.ingest.finding import FoundFile, FoundFiles, find_files
from proofstone.engines.ingest.guarded import OCR_LIMITS, GuardedReader, ReadEvent, ReadLimits
from proofstone.engines.ingest.kinds_of_file import READABLE_SUFFIXES, has_pictures
from proofstone.engines.ingest.languages import UNDETERMINED, guess_language, read_language_code
from proofstone.engines.ingest.lines import LINE_LIMIT
from proofstone.engines.ingest.messages import Draw, Drawn, Job, Opened, PageRead, Refused
from proofstone.engines.ingest.other_formats import document_advice, formats_hint
from proofstone.engines.ingest.region_rows import ChosenRegion, read_regions
from proofstone.engines.ingest.rows import (
    SUFFIXES,
    RowReader,
    TellUnread,
    read_checked,
    read_rows,
    table_suffix,
)
from proofstone.engines.ingest.scan.installed import INSTALL as INSTALL_OCR
from proofstone.engines.ingest.scan.installed import OCR_READER, is_ocr_installed
from proofstone.engines.ingest.stated import Stated, StatedFor, merged, read_stated
from proofstone.engines.ingest.unread import read_noting, read_watched, with_near
from proofstone.engines.ingest.wiki.answers import WikiError
from proofstone.engines.ingest.wiki.api import (
    AT_ONCE,
    PAGE_READER,
    WIKI_SUFFIX,
    WikiAddress,
    WikiFile,
    WikiFound,
    WikiPage,
    page_query,
    parse_query,
    read_address,
    read_found,
    read_html,
    read_titles,
)
from proofstone.engines.ingest.wiki.lists import (
    random_query,
    read_random,
    read_repository,
    read_statements,
    repository_query,
    statements_query,
)
from proofstone.engines.ingest.wiki_articles import (
    WikiArticle,
    article_keys,
    each_article,
    fetched_article,
    find_articles,
    read_articles,
)
from proofstone.engines.ingest.workbooks import WORKBOOK_SUFFIXES, read_grids, write_workbook
from proofstone.engines.ingest.writing import check_target, write_rows

__all__ = [
    "AT_ONCE",
    "BETWEEN_TITLES",
    "DOCUMENT_SUFFIXES",
    "INSTALL_OCR",
    "LINE_LIMIT",
    "OCR_LIMITS",
    "OCR_READER",
    "PAGE_READER",
    "READABLE_SUFFIXES",
    "SUFFIXES",
    "UNDETERMINED",
    "WIKI_SUFFIX",
    "WORKBOOK_SUFFIXES",
    "ChosenRegion",
    "Document",
    "Draw",
    "Drawn",
    "Edition",
    "EditionStatus",
    "Fields",
    "FoundFile",
    "FoundFiles",
    "GuardedReader",
    "Held",
    "Job",
    "Opened",
    "PageRead",
    "ReadEvent",
    "ReadLimits",
    "Refused",
    "RowReader",
    "Stated",
    "StatedFor",
    "TellUnread",
    "WikiAddress",
    "WikiArticle",
    "WikiError",
    "WikiFile",
    "WikiFound",
    "WikiPage",
    "article_keys",
    "bare_name",
    "came",
    "check_target",
    "document_advice",
    "each_article",
    "fetched_article",
    "find_articles",
    "find_files",
    "formats_hint",
    "guess_language",
    "has_pictures",
    "hold",
    "is_ocr_installed",
    "merged",
    "page_query",
    "parse_query",
    "random_query",
    "read_address",
    "read_articles",
    "read_checked",
    "read_documents",
    "read_found",
    "read_grids",
    "read_html",
    "read_identity",
    "read_json",
    "read_language_code",
    "read_noting",
    "read_random",
    "read_regions",
    "read_repository",
    "read_rows",
    "read_stated",
    "read_statements",
    "read_titles",
    "read_watched",
    "readable_name",
    "repository_query",
    "resting_on",
    "statements_query",
    "table_suffix",
    "with_near",
    "write_rows",
    "write_workbook",
]
