"""Pages that a vision model reads: what it is shown, what is kept, and what is never its text."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from proofstone.api import Workspace
from proofstone.documents.reader import GuardedReader
from proofstone.documents.sources import Stated
from proofstone.errors import BadUsage, BudgetReached, EgressRefused, EndpointUnusable
from proofstone.ingest.ingest import IngestReport, OcrUse, ingest_paths
from proofstone.ingest.vision import NOTHING, PROMPT, VisionScanner, blocks_of, read_transcript
from proofstone.records.knowledge import Stratum
from proofstone.records.pages import Page
from proofstone.session.permits import Leaving
from proofstone.session.terminal import describe
from scripted_server import Act, Seen, answer, error
from serving import configure, serving

image = pytest.importorskip("PIL.Image", reason="needs the extra [ocr]")

COPPER = "# Metals\n\nCopper melts at 1,085 degrees.\n\n| metal | melts |\n|---|---|\n| tin | 232 |"
TIN = "Tin melts at 232 degrees, and it is among the softest of the metals that smiths have used."


def framed(text: str) -> Act:
    return answer(f"<page>\n{text}\n</page>")


class Reader:
    """Answers each picture by its width, at ``url``; ``widths`` are those it was shown, ``prompts``
    the texts beside them."""

    def __init__(self) -> None:
        self.url = ""
        self.by_width: Mapping[int, Act | Callable[[int], Act]] = {}
        self.widths: list[int] = []
        self.prompts: set[str] = set()

    def __call__(self, seen: Seen) -> Act:
        picture, text = seen.json["messages"][-1]["content"]
        png = b64decode(picture["image_url"]["url"].partition(",")[2])
        width = int.from_bytes(png[16:20], "big")
        self.widths.append(width)
        self.prompts.add(text["text"])
        act = self.by_width[width]
        return act if isinstance(act, Act) else act(self.widths.count(width))


def pictures(path: Path, *widths: int) -> Path:
    """A TIFF whose pages have these widths in pixels."""
    pages = [image.new("RGB", (width, 100), "white") for width in widths]
    pages[0].save(path, save_all=True, append_images=pages[1:])
    return path


def ingested(
    workspace: Workspace, path: Path, *, ocr: OcrUse = "auto", budget: str | None = None
) -> tuple[IngestReport, VisionScanner]:
    scanner = workspace.page_scanner("scripted/seer", budget=budget)
    report = ingest_paths(
        workspace.store, [path], clock=workspace.clock, ocr=ocr, scanner=scanner,
        open_reader=partial(GuardedReader, n_processes=1),
    )  # fmt: skip
    return report, scanner


def pages_of(workspace: Workspace, source: bytes) -> dict[int | None, Page]:
    return {page.number: page for page in workspace.store.pages.pages(source)}


@pytest.fixture
def reader(workspace: Workspace) -> Iterator[Reader]:
    """The model ``scripted/seer`` of the workspace."""
    seer = Reader()
    with serving(seer) as server:
        seer.url = server.url
        configure(workspace.folder, seer.url, "card = { images = true }")
        yield seer


def test_what_a_model_writes_down_is_the_text_of_the_page(
    workspace: Workspace, reader: Reader, tmp_path: Path
) -> None:
    """With headings, tables and passages, the whole page as their box; a heading holds on the next
    page. The same again asks nothing; the same picture in another file comes from the cache, a
    larger one is made smaller."""
    scans = pictures(tmp_path / "metals.tiff", 200, 300)
    reader.by_width = {200: framed(COPPER), 300: framed(TIN)}
    report, scanner = ingested(workspace, scans)
    (entry,) = report.taken
    assert (report.state, entry.n_pages, entry.n_scanned, entry.unread) == ("all", 2, 2, {})
    assert (sorted(reader.widths), reader.prompts) == ([200, 300], {PROMPT})
    assert (scanner.account.pages, scanner.account.cached) == (2, 0)
    assert scanner.account.spent.calls == 2
    assert scanner.account.spent.tokens == 2 * (100 + 5)
    pages = pages_of(workspace, entry.id)
    assert pages[1].text == "Metals\n\nCopper melts at 1,085 degrees.\n\nmetal | melts\ntin | 232"
    assert {page.reader for page in pages.values()} == {"vision 1 scripted/seer"}
    assert [mark.kind for mark in pages[1].places.marks] == ["heading", "table"]
    width, height = pages[1].width, pages[1].height
    assert {line.box for line in pages[1].places.lines} == {(0.0, 0.0, width, height)}
    passages = list(workspace.store.knowledge.passages_of(entry.id))
    for passage in passages:
        text = pages[passage.page].text
        assert text[passage.start : passage.end] == passage.text
    assert {passage.heading for passage in passages} == {"Metals"}
    again, account = ingested(workspace, scans)
    assert (len(reader.widths), account.account.pages) == (2, 0)
    assert (again.taken[0].is_new, again.taken[0].n_scanned) == (False, 0)
    reader.by_width = {2000: framed(TIN)}
    other, account = ingested(workspace, pictures(tmp_path / "other.tiff", 6000, 200))
    assert reader.widths[2:] == [2000]  # 6,000 pixels in three parts: 2,600 are sent at most
    assert (account.account.pages, account.account.cached) == (2, 1)
    assert other.taken[0].n_scanned == 2


def test_what_is_no_page_is_never_its_text(
    workspace: Workspace, reader: Reader, tmp_path: Path
) -> None:
    """Refusals, apologies, empty and broken replies leave a page unread, with the reason; a reply
    without marks is asked for twice more."""
    sorry = "I am sorry, but I cannot read this image."
    acts: dict[int, Act | Callable[[int], Act]] = {
        201: answer(sorry),
        202: answer(""),
        203: answer(f"<page>\n{TIN}", finish="length"),
        204: answer("", refusal="I will not."),
        205: answer(f"<page>{TIN}</page>", finish="content_filter"),
        206: error(400, {"error": {"message": "no such image", "type": "invalid_request_error"}}),
        207: lambda time: framed(TIN) if time == 2 else answer(sorry),
        208: framed(NOTHING),
    }
    reader.by_width = acts
    report, scanner = ingested(workspace, pictures(tmp_path / "odd.tiff", *acts))
    (entry,) = report.taken
    assert (report.state, scanner.stopped) == ("some", None)
    assert {each.page: each.why for each in entry.not_scanned} == {
        1: "the response had no page between <page> and </page>",
        2: "the response was empty",
        3: "the response was truncated at 8,192 tokens",
        4: "the model refused",
        5: "the model refused",
        6: "the call failed: bad_request",
    }
    assert entry.unread == {"image only": [1, 2, 3, 4, 5, 6]}
    asked = [reader.widths.count(width) for width in acts]
    assert asked == [3, 3, 1, 1, 1, 1, 2, 1]
    pages = pages_of(workspace, entry.id)
    assert pages[1].detail.startswith("scripted/seer: the response had no page between")
    assert [pages[n].text for n in (1, 3, 7, 8)] == ["", "", TIN, ""]
    assert [pages[n].state for n in (1, 7, 8)] == ["unread", "read", "read"]
    assert {p.page for p in workspace.store.knowledge.passages_of(entry.id)} == {7}
    again, _scanner = ingested(workspace, tmp_path / "odd.tiff")
    assert len(reader.widths) == sum(asked) + 1  # only the call that failed is made again
    assert [each.page for each in again.taken[0].not_scanned] == [1, 2, 3, 4, 5, 6]
    # No picture was kept; a purge finds every reply, also one whose words stand on no page.
    assert _kept(workspace, "<page>") == 4
    workspace.purge(f"source:{entry.id.hex()}", reason="private")
    assert _kept(workspace, "<page>") == _kept(workspace, sorry) == 0


def test_a_reply_has_its_marks_once() -> None:
    assert read_transcript("Here it is:\n<page>\n Tin. \n</page>") == "Tin."
    assert read_transcript("<page>a\x00\tb\r\nc</page>") == "a\tb\nc"
    assert read_transcript(f"<page>\n{NOTHING}\n</page>") == ""
    for text in ("", "Tin.", "<page></page>", "<page>a", "<page>a</page><page>b</page>",
                 "</page>a<page>", "<page>a<page>b</page>"):  # fmt: skip
        assert read_transcript(text) is None


def test_blocks_of_what_was_written_down() -> None:
    """Signs that mark are gone, what they mark stays; nothing within a fence is a mark."""
    text = (
        "# One\nText of it\ngoes on.\n## Two ##\n- a\n- b\n\n$$\nx = y\n\nz\n$$\n$$E = mc^2$$\n\n"
        "```\n# no heading\n\nx\n```\n[figure]\n\nCosts $$ here.\n\n|a|b|\n|--|--|\n| - | 2 |\n"
    )
    assert [(block.kind, block.text, block.level) for block in blocks_of(text)] == [
        ("heading", "One", 1),
        ("text", "Text of it\ngoes on.", 0),
        ("heading", "Two", 2),
        ("list", "- a\n- b", 0),
        ("equation", "x = y\n\nz", 0),
        ("equation", "E = mc^2", 0),
        ("code", "# no heading\n\nx", 0),
        ("figure", "", 0),
        ("text", "Costs $$ here.", 0),
        ("table", "a | b\n- | 2", 0),
    ]
    assert blocks_of("") == []
    assert [block.text for block in blocks_of("```\nnever closed")] == ["never closed"]


def test_a_model_that_is_not_known_to_see_is_refused_before_a_file_is_read(
    workspace: Workspace, reader: Reader, tmp_path: Path
) -> None:
    configure(workspace.folder, reader.url)
    with pytest.raises(
        BadUsage, match="scripted/seer is not known to accept images, and pages are sent"
    ):
        ingested(workspace, tmp_path / "absent.tiff")


def test_pictures_go_only_where_their_source_may_go(
    workspace: Workspace, reader: Reader, tmp_path: Path
) -> None:
    """A policy refuses by the title or the book of a source; else it is asked for its own words."""
    far = ("card = { images = true }", "[egress.sources.Private]", 'hosts = ["local"]')
    configure(workspace.folder, "https://far.example/v1", *far)
    scans = pictures(tmp_path / "two.tiff", 200, 300)
    told: list[Leaving] = []
    workspace.ask_egress = lambda leaving: told.append(leaving) or ""
    scanner = workspace.page_scanner("scripted/seer")
    for stated, why in (
        (Stated(title="Private"), "'Private' may not be sent to far.example"),
        (Stated(stratum=Stratum(book="Private")), "'Private' may not be sent to far.example"),
        (Stated(), "no permission to send 'two' to far.example"),
    ):
        report = ingest_paths(
            workspace.store, [scans], clock=workspace.clock, scanner=scanner, stated=stated
        )
        assert report.taken[0].unread == {"image only": [1, 2]}
        assert isinstance(scanner.stopped, EgressRefused)
        assert why in scanner.stopped.message
    (leaving,) = told
    assert describe(leaving) == (
        "to far.example (scripted/seer): 2 requests with 2 page images, from\n"
        "  two  2 of 2 page images  no license stated"
    )
    assert (leaving.state, leaving.outgoing.passages, reader.widths) == ("new", 2, [])


def test_a_budget_ends_the_reading_and_what_was_read_stays(
    workspace: Workspace, reader: Reader, tmp_path: Path
) -> None:
    """A picture may take 50,000 tokens and its reply 8,192; the first takes 60,000 of 100,000."""
    spent = answer(f"<page>{TIN}</page>", prompt_tokens=59_000, completion_tokens=1_000)
    reader.by_width = dict.fromkeys((200, 300, 400), spent)
    scans = pictures(tmp_path / "three.tiff", 200, 300, 400)
    report, scanner = ingested(workspace, scans, budget="100ktok")
    assert isinstance(scanner.stopped, BudgetReached)
    (entry,) = report.taken
    assert len(reader.widths) == 1
    assert (entry.n_scanned, entry.not_scanned) == (1, ())
    rest, more = ingested(workspace, scans)
    assert (more.stopped, sorted(reader.widths)) == (None, [200, 300, 400])
    assert rest.taken[0].unread == {}


def test_a_wrong_key_ends_the_reading_and_leaves_pages_unread(
    workspace: Workspace, reader: Reader, tmp_path: Path
) -> None:
    refused = error(401, {"error": {"message": "no such key", "type": "invalid_api_key"}})
    scans = pictures(tmp_path / "two.tiff", 200, 300)
    reader.by_width = {200: refused, 300: refused}
    report, scanner = ingested(workspace, scans)
    assert isinstance(scanner.stopped, EndpointUnusable)
    assert report.taken[0].unread == {"image only": [1, 2]}
    assert report.taken[0].not_scanned == ()


def test_ocr_leaves_what_a_model_has_read(
    workspace: Workspace, reader: Reader, tmp_path: Path
) -> None:
    scans = pictures(tmp_path / "one.tiff", 200)
    reader.by_width = {200: framed(TIN)}
    (entry,) = ingested(workspace, scans)[0].taken
    again = ingest_paths(workspace.store, [scans], clock=workspace.clock)
    assert again.taken[0].n_scanned == 0
    assert pages_of(workspace, entry.id)[1].text == TIN


def test_a_page_with_text_keeps_it_where_the_model_gives_none(
    workspace: Workspace, reader: Reader, tmp_path: Path
) -> None:
    """With --ocr always, when its readings fail."""
    pytest.importorskip("pypdfium2", reason="needs the extra [pdf]")
    from reportlab.pdfgen.canvas import Canvas  # noqa: PLC0415

    path = tmp_path / "text.pdf"
    canvas = Canvas(str(path), pagesize=(200, 100))
    canvas.drawString(20, 50, "Tin melts at 232 degrees.")
    canvas.save()
    width = -(-200 * 150 // 72)
    reader.by_width = dict.fromkeys((width - 1, width, width + 1), answer("", refusal="No."))
    report, _scanner = ingested(workspace, path, ocr="always")
    (entry,) = report.taken
    assert [each.why for each in entry.not_scanned] == ["the model refused"]
    page = pages_of(workspace, entry.id)[1]
    assert (page.text, page.reader) == ("Tin melts at 232 degrees.", "pdf 1")


def _kept(workspace: Workspace, words: str) -> int:
    """How many stored replies hold some words."""
    calls = workspace.store.traces.calls(bytes(32), b"\xff" * 32)
    return sum(words.encode() in workspace.store.calls.call(call.key).raw for call in calls)
