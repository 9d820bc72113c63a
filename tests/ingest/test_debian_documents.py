"""Whole documents that others wrote: every passage verbatim at its offsets, within its page."""

from __future__ import annotations

from pathlib import Path

import pytest

from debian_documents import (
    DERIVATIONS,
    HANDBOOK,
    MAINTAINERS,
    SANDWICH,
    VIGNETTES,
    debian_documents,
)
from proofstone.api import Workspace, create_workspace
from proofstone.ingest.ingest import IngestReport, ingest_paths
from proofstone.records.pages import PageState
from verbatim import check_verbatim

pytest.importorskip("pypdfium2", reason="needs the extra [pdf]")
pytest.importorskip("lxml", reason="needs the extra [html]")

pytestmark = pytest.mark.slow


def ingested(workspace: Workspace, *paths: Path) -> IngestReport:
    """All of it as it is: nothing is read from images here."""
    return ingest_paths(workspace.store, paths, clock=workspace.clock, ocr="never")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return create_workspace(tmp_path / "work")


def test_a_book_of_796_pages(workspace: Workspace) -> None:
    """Mathematics with running heads, formulas and tables. No page is unread."""
    with workspace:
        report = ingested(workspace, debian_documents(DERIVATIONS))
        (entry,) = report.taken
        assert (entry.n_pages, entry.unread, entry.language) == (796, {}, "en")
        assert check_verbatim(workspace.store).total() == entry.n_passages > 1850


def test_a_table_among_mixed_scripts_makes_no_columns(workspace: Workspace) -> None:
    """The table of manual sections: prose above and below it is read whole, and no passage is a
    fragment."""
    with workspace:
        report = ingested(workspace, debian_documents(MAINTAINERS))
        (entry,) = report.taken
        texts = [passage.text for passage in workspace.store.knowledge.passages_of(entry.id)]
        whole = "\n".join(texts)
        assert "如果原始代码中没有 gentoo.1 man 手册页" in whole
        assert (
            "3 | Library calls(库调用) | Functions within system libraries(系统库中的功能)" in whole
        )
        assert not [text for text in texts if len(text) < 25]


def test_papers_in_one_column_with_formulas_and_code(workspace: Workspace) -> None:
    with workspace:
        papers = sorted(debian_documents(SANDWICH).glob("*.pdf*"))
        report = ingested(workspace, *papers)
        assert len(report.taken) == len(papers) >= 3
        assert not any(entry.unread for entry in report.taken)
        assert check_verbatim(workspace.store).total() == _n_passages(report) > 100


def test_a_paper_whose_characters_are_no_words_has_no_passage(workspace: Workspace) -> None:
    """PLSvGLS.pdf names its glyphs by numbers: its pages wait for their images, and no other
    paper's do."""
    with workspace:
        papers = sorted(debian_documents(VIGNETTES).glob("*.pdf*"))
        report = ingested(workspace, *papers)
        by_file = {entry.file.partition(".")[0]: entry for entry in report.taken}
        assert sum(map(len, by_file["PLSvGLS"].unread.values())) > 0
        assert not by_file["lmer"].unread
        assert check_verbatim(workspace.store).total() == _n_passages(report)
        pages = workspace.store.pages.pages(by_file["PLSvGLS"].id)
        states: set[PageState] = {page.state for page in pages if not page.text}
        assert states == {"unread"}


@pytest.mark.parametrize(("folder", "language"), [("en-US", "en"), ("zh-CN", "zh")])
def test_a_handbook_of_web_pages(workspace: Workspace, folder: str, language: str) -> None:
    """The Debian handbook, translated in part: most of its pages are in the folder's language."""
    with workspace:
        report = ingested(workspace, debian_documents(HANDBOOK, folder))
        assert (report.not_read, len(report.taken) > 100) == ((), True)
        languages = [entry.language.partition("-")[0] for entry in report.taken]
        assert languages.count(language) > len(languages) / 2
        assert check_verbatim(workspace.store).total() == _n_passages(report) > 500


def _n_passages(report: IngestReport) -> int:
    return sum(entry.n_passages for entry in report.taken)
