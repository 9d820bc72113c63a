"""Pages that are images are read after the files; what was read before is not read again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "ingest"))

from printed import columns, one_page, pdf, words

from proofstone.api import Workspace
from proofstone.documents.reader import PageRead, Refused
from proofstone.errors import BadInput, ExtraMissing
from proofstone.ingest.ingest import IngestReport, OcrUse, ScanPart, TakeScanned, ingest_paths
from proofstone.records.pages import Box, PageLayout, PlacedLine, pack_layout

pytest.importorskip("pypdfium2")

GARBLED = b"BT /F1 12 Tf 72 700 Td (" + b"bcdfg hjklm npqrs tvwxz " * 12 + b") Tj ET"
CHINESE = (
    "铜在一千多度时熔化，锡在二百多度时熔化，两者的合金称为青铜，"
    "是人类最早大量使用的合金，古代的匠人用它铸造兵器和礼器。"
)


class FakeScanner:
    """Reads the same text from every picture; ``asked`` keeps the pages it was asked for."""

    reader = "ocr test"

    def __init__(self, text: str = "", needs: str = "", sure: float = 0.99) -> None:
        self.text = text or "Copper melts at a thousand degrees, and tin at two hundred and more."
        self.needs = needs
        self.sure = sure
        self.asked: list[tuple[str, tuple[int, ...]]] = []
        self.stop_after = 10**6

    def scan(self, parts: Sequence[ScanPart], take: TakeScanned) -> None:
        for place, part in enumerate(parts):
            self.asked.append((Path(part.job.path).name, part.job.scan))
            for number in part.job.scan:
                if self.stop_after == 0:
                    raise KeyboardInterrupt
                self.stop_after -= 1
                take(place, self._page(number))

    def _page(self, number: int) -> PageRead:
        line = PlacedLine(0, len(self.text), Box(10, 10, 90, 20), self.sure)
        layout = pack_layout(PageLayout((line,)), 100, 100)
        return PageRead(
            number=number, text=self.text, reader=self.reader, width=100, height=100,
            layout=layout, cuts=((0, len(self.text), (), "en"),),
        )  # fmt: skip


def ingested(
    workspace: Workspace, path: Path, scanner: FakeScanner, ocr: OcrUse = "auto"
) -> IngestReport:
    return ingest_paths(workspace.store, [path], clock=workspace.clock, ocr=ocr, scanner=scanner)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A page of text, and two whose characters are no words."""
    import pypdfium2  # noqa: PLC0415 - in an extra

    (tmp_path / "garbled.pdf").write_bytes(one_page(GARBLED))
    pdf(tmp_path / "text.pdf", [lambda canvas: columns(canvas, words(200), n=1)])
    whole = pypdfium2.PdfDocument.new()
    for name in ("garbled", "text", "garbled"):
        with pypdfium2.PdfDocument(tmp_path / f"{name}.pdf") as part:
            whole.import_pages(part)
    whole.save(tmp_path / "mixed.pdf")
    whole.close()
    return tmp_path / "mixed.pdf"


def test_only_pages_without_text_are_scanned_and_only_once(
    workspace: Workspace, mixed: Path
) -> None:
    scanner = FakeScanner()
    (entry,) = ingested(workspace, mixed, scanner).taken
    assert scanner.asked == [("mixed.pdf", (1, 3))]
    assert (entry.n_pages, entry.n_scanned, entry.unread, entry.doubtful) == (3, 2, {}, [])
    pages = {page.number: page for page in workspace.store.pages.pages(entry.id)}
    assert [pages[n].reader for n in (1, 2, 3)] == ["ocr test", "pdf 1", "ocr test"]
    passages = list(workspace.store.knowledge.passages_of(entry.id))
    assert [p.page for p in passages].count(1) == 1
    again = FakeScanner()
    (known,) = ingested(workspace, mixed, again).taken
    assert (again.asked, known.is_new, known.n_scanned) == ([], False, 0)
    assert (known.n_pages, known.n_passages) == (entry.n_pages, entry.n_passages)


def test_a_stopped_scan_goes_on_behind_the_last_page_that_was_read(
    workspace: Workspace, mixed: Path
) -> None:
    scanner = FakeScanner()
    scanner.stop_after = 1
    with pytest.raises(KeyboardInterrupt):
        ingested(workspace, mixed, scanner)
    rest = FakeScanner()
    (entry,) = ingested(workspace, mixed, rest).taken
    assert rest.asked == [("mixed.pdf", (3,))]
    assert entry.unread == {}


def test_never_scans_nothing_and_always_every_page(workspace: Workspace, mixed: Path) -> None:
    never = FakeScanner()
    (entry,) = ingested(workspace, mixed, never, "never").taken
    assert never.asked == []
    assert entry.unread == {"garbled": [1, 3]}
    always = FakeScanner()
    ingested(workspace, mixed, always, "always")
    assert always.asked == [("mixed.pdf", (1, 2, 3))]


def test_without_what_reads_images_pages_stay_unread_and_it_is_said_what_to_install(
    workspace: Workspace, mixed: Path
) -> None:
    report = ingested(workspace, mixed, FakeScanner(needs="pip install it"))
    assert report.needs == "pip install it"
    assert report.taken[0].unread == {"garbled": [1, 3]}
    assert report.state == "all"
    with pytest.raises(ExtraMissing, match="not installed"):
        ingested(workspace, mixed, FakeScanner(needs="pip install it"), "always")


def test_pages_of_little_confidence_are_told(workspace: Workspace, mixed: Path) -> None:
    (entry,) = ingested(workspace, mixed, FakeScanner(sure=0.7)).taken
    assert entry.doubtful == [1, 3]
    assert workspace.store.pages.confidences(entry.id) == pytest.approx({1: 0.7, 3: 0.7}, abs=0.01)


def test_a_document_without_letters_has_the_language_of_its_first_scanned_page(
    workspace: Workspace, tmp_path: Path
) -> None:
    """And keeps it when it is read again; unread it is taken for English."""
    image = pytest.importorskip("PIL.Image", reason="needs the extra [ocr]")
    image.new("RGB", (100, 100)).save(tmp_path / "shot.png")
    (unread,) = ingested(workspace, tmp_path / "shot.png", FakeScanner(), "never").taken
    assert (unread.language, unread.unread) == ("en", {"image only": [1]})
    (entry,) = ingested(workspace, tmp_path / "shot.png", FakeScanner(CHINESE)).taken
    assert (entry.language, entry.n_passages) == ("zh", 1)
    again = FakeScanner()
    (known,) = ingested(workspace, tmp_path / "shot.png", again).taken
    assert (known.id, again.asked) == (entry.id, [])


def test_a_scan_that_is_refused_leaves_its_pages_unread_and_is_told(
    workspace: Workspace, mixed: Path
) -> None:
    class Refusing(FakeScanner):
        def scan(self, parts: Sequence[ScanPart], take: TakeScanned) -> None:
            take(0, Refused(message="the models are damaged", code=BadInput.code))

    report = ingested(workspace, mixed, Refusing())
    assert [each.why for each in report.not_read] == ["the models are damaged"]
    assert report.taken[0].unread == {"garbled": [1, 3]}
    assert report.state == "some"
