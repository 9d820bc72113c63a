"""Statements from pictures of parts of pages: what is cut out, who sees it, and what is kept."""

from __future__ import annotations

import io
import json
import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "ingest"))

from printed import pdf, set_lines

from encyclo_k.scripted_author import Author
from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.build.regions import region_in_box, region_rows, regions_by_rule
from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.ingest.ingest import ingest_paths
from proofstone.methods.encyclo_k.extraction import seen_step
from proofstone.records.pages import Box
from proofstone.texts.templates import Prompts
from scripted_server import Act, Seen, answer
from serving import HurriedClock, configure, serving

pytest.importorskip("pypdfium2", reason="needs the extra [pdf]")

PAGE = [
    ["Metals are known by how well they lead current and heat, and by little else that lasts."],
    ["Definition 1. Pure copper conducts electric current well because its electrons", "move."],
    ["Proof. This has been seen in every laboratory, and needs no further word of ours."],
    ["Theorem 2. Pure silver conducts electric current best of all metals by its lattice."],
]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()

        def draw(canvas: Any) -> None:
            top = 100.0
            for lines in PAGE:
                top = set_lines(canvas, lines, top=top) + 24

        pdf(tmp_path / "Metals.pdf", [draw], title="Metals")
        ingest_paths(
            opened.store, [tmp_path / "Metals.pdf"], clock=opened.clock, ocr="never",
            located=opened.note_documents,
        )  # fmt: skip
        yield opened


class Seer(Author):
    """Takes the n-th text from the n-th picture; ``pictures`` are those that it was shown."""

    def __init__(self, *contents: str) -> None:
        super().__init__()
        self.contents = list(contents)
        self.pictures: list[bytes] = []
        self.prompts: list[str] = []

    def __call__(self, seen: Seen) -> Act:
        content = seen.json["messages"][-1]["content"]
        if isinstance(content, str):
            return super().__call__(seen)
        image, text = content
        self.pictures.append(b64decode(image["image_url"]["url"].partition(",")[2]))
        self.prompts.append(text["text"])
        made = self.contents[len(self.pictures) - 1]
        return answer(json.dumps({"title": made.split()[1], "content": made, "transcript": made}))


COPPER = "Pure copper conducts electric current well because its electrons move."
SILVER = "Pure silver conducts electric current best of all metals by its lattice."


def built(workspace: Workspace, regions: str, seer: Seer, *more: str, **params: Any) -> BuildResult:
    with serving(seer) as server:
        configure(workspace.folder, server.url, *(more or ("card = { images = true }",)))
        return workspace.build_in_steps(
            "statements", ["Metals"], name="metals", models="scripted/seer", judge="scripted/seer",
            from_regions=regions, max_connections=1, **params,
        )  # fmt: skip


def test_regions_of_a_book_are_those_of_its_sources_each_once(workspace: Workspace) -> None:
    """The book may be one that a person put the source into, and the source named beside it."""
    workspace.place("Metals", {"book": "Handbook"}, reason="its first part", by="Ada")
    names = ["Handbook", "Metals"]
    store, document_of = workspace.store, workspace.document_of
    once = region_rows(store, names, "points", document_of)
    assert [region.text.split()[0] for region in once] == ["Definition", "Theorem"]
    assert {region.source.stratum.book for region in once} == {"Handbook"}
    assert region_rows(store, names, "points", document_of, languages=("en",)) == once
    with pytest.raises(BadInput, match="no points to be seen on the pages of Handbook, Metals"):
        region_rows(store, names, "points", document_of, languages=("zh",))


def ink(png: bytes) -> tuple[tuple[int, int], float]:
    """Columns and rows of a picture, and how much of it is dark."""
    image = pytest.importorskip("PIL.Image", reason="needs the extra [ocr]")
    grey = image.open(io.BytesIO(png)).convert("L")
    dark = sum(grey.histogram()[:128])
    return grey.size, dark / (grey.size[0] * grey.size[1])


def test_each_point_is_a_picture_and_one_statement_with_its_page_and_passage(
    workspace: Workspace,
) -> None:
    seer = Seer(COPPER, SILVER)
    result = built(workspace, "points", seer, perturbed=0.0)
    assert result.complete
    assert [step.entered for step in result.funnel.steps][:1] == [2]
    assert result.bank is not None
    facts = workspace.store.knowledge.bank(result.bank.id).facts()
    assert {fact.payload.text for fact in facts} == {COPPER, SILVER}
    assert {fact.payload.title for fact in facts} == {"copper", "silver"}
    assert {fact.page for fact in facts} == {"1"}
    (passage,) = {fact.passage for fact in facts}
    assert passage in {p.id for p in workspace.store.knowledge.passages_of(facts[0].source)}
    (wide, tall), dark = ink(seer.pictures[0])
    # Two lines of 12 points at 150 dots an inch: no other line is in the picture.
    assert 40 < tall < 70
    assert wide > 600
    assert 0.005 < dark < 0.3
    assert all("transcript" not in prompt for prompt in seer.prompts)  # the page's text is known


def test_boxes_of_a_table_are_pictures_in_its_order(workspace: Workspace, tmp_path: Path) -> None:
    table = tmp_path / "boxes.csv"
    table.write_text(
        "page,left,top,right,bottom,heading\n1,60,205,540,230,Silver\n1,60,120,540,160,Copper\n",
        encoding="utf-8",
    )
    seer = Seer(SILVER, COPPER)
    result = built(workspace, str(table), seer, perturbed=0.0)
    assert result.complete
    assert [
        f'part "{name}"' in prompt
        for name, prompt in zip(("Silver", "Copper"), seer.prompts, strict=True)
    ] == [True, True]
    widths = [ink(picture)[0] for picture in seer.pictures]
    assert widths[0][0] == pytest.approx((540 - 60 + 3) * 150 / 72, abs=3)
    again = built(workspace, str(table), Seer(), perturbed=0.0)
    assert again.build.id == result.build.id


def test_where_a_page_has_no_text_the_model_writes_it_down(
    workspace: Workspace, tmp_path: Path
) -> None:
    """And the statement is checked against that; a fact without a passage keeps its page."""
    image = pytest.importorskip("PIL.Image", reason="needs the extra [ocr]")
    image.new("RGB", (400, 200), "white").save(tmp_path / "shot.png")
    ingest_paths(
        workspace.store, [tmp_path / "shot.png"], clock=workspace.clock, ocr="never",
        located=workspace.note_documents,
    )  # fmt: skip
    table = tmp_path / "boxes.jsonl"
    table.write_text('{"page": 1, "left": 10, "top": 10, "right": 200, "bottom": 60}\n')
    seer = Seer(COPPER)
    with serving(seer) as server:
        configure(workspace.folder, server.url, "card = { images = true }")
        result = workspace.build_in_steps(
            "statements", ["shot"], name="shot", models="scripted/seer", judge="scripted/seer",
            from_regions=str(table), perturbed=0.0,
        )  # fmt: skip
    assert "transcript" in seer.prompts[0]
    assert result.bank is not None
    (fact,) = workspace.store.knowledge.bank(result.bank.id).facts()
    assert (fact.payload.text, fact.passage, fact.page) == (COPPER, None, "1")


def test_a_model_that_is_not_known_to_see_is_refused_before_anything_is_asked(
    workspace: Workspace,
) -> None:
    seer = Seer(COPPER, SILVER)
    with pytest.raises(BadUsage, match="scripted/seer is not known to accept images"):
        built(workspace, "points", seer, "card = { window = 4096 }")
    assert seer.pictures == []


def test_what_cannot_be_a_region_is_said_row_by_row(workspace: Workspace, tmp_path: Path) -> None:
    table = tmp_path / "boxes.csv"
    table.write_text("page,left,top,right,bottom\n7,1,1,9,9\n1,9,1,1,9\n1,x,1,9,9\n")
    with pytest.raises(BadInput) as raised:
        built(workspace, str(table), Seer())
    assert [str(problem) for problem in raised.value.problems] == [
        "line 3, field right: right and bottom must be more than left and top",
        "line 4, left: expected points, not 'x'",
    ]
    table.write_text("page,left,top,right,bottom\n7,1,1,9,9\n")
    with pytest.raises(BadInput, match="regions that are on no page") as raised:
        built(workspace, str(table), Seer())
    assert [str(problem) for problem in raised.value.problems] == ["line 2: Metals has no page 7"]
    with pytest.raises(BadUsage, match="neither passages nor points, nor a file"):
        built(workspace, "paragraphs", Seer())


def test_the_rule_ends_a_point_where_its_proof_begins(workspace: Workspace) -> None:
    source = workspace.store.lookup.find("Metals", ("source",))
    page = workspace.store.pages.page(source.id, 1)
    assert page is not None
    passages = workspace.store.pages.passages_on(page.id)
    points = list(regions_by_rule(page, passages, "points"))
    assert [point.text for point in points] == [" ".join(PAGE[1]), PAGE[3][0]]
    assert [len(point.boxes) for point in points] == [2, 1]
    whole = list(regions_by_rule(page, passages, "passages"))
    assert [region.text for region in whole] == [passage.text for passage in passages]
    chosen = region_in_box(page, passages, Box(0, 110, 600, 175))
    assert chosen.text == " ".join(PAGE[1])
    assert chosen.passage == passages[0]
    assert region_in_box(page, passages, Box(0, 0, 10, 10)).passage is None


def test_a_passage_is_drawn_marked_or_alone(workspace: Workspace, tmp_path: Path) -> None:
    source = workspace.store.lookup.find("Metals", ("source",))
    page = workspace.store.pages.page(source.id, 1)
    assert page is not None
    passage = workspace.store.pages.passages_on(page.id)[0]
    name = f"passage:{passage.id.hex()}"
    marked, alone = workspace.draw(name, dpi=72), workspace.draw(name, dpi=72, crop=True)
    assert ink(marked)[0] == (596, 842)
    assert ink(alone)[0][1] < 250
    plain = workspace.draw(f"page:{source.id.hex()[:8]}/1", dpi=72)
    assert plain != marked
    (tmp_path / "Metals.pdf").rename(tmp_path / "moved.pdf")
    with pytest.raises(NotFound, match="is not where it was read"):
        workspace.draw(name)
    assert workspace.draw(name, dpi=72, document=tmp_path / "moved.pdf") == marked
    (tmp_path / "other.pdf").write_bytes(b"x")
    with pytest.raises(BadUsage, match="its bytes differ"):
        workspace.draw(name, document=tmp_path / "other.pdf")
    with pytest.raises(BadUsage, match="a whole page cannot be cropped"):
        workspace.draw(f"page:{source.id.hex()[:8]}/1", crop=True, document=tmp_path / "moved.pdf")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_prompt_for_a_picture_as_it_is_sent(language: str) -> None:
    """Compared whole; its words are in the key of the step."""
    book, heading = ("Metals", "Copper") if language == "en" else ("金属", "铜")
    text = Prompts("proofstone.methods.encyclo_k").render(
        "extract_seen", language, book=book, heading=heading, page=3, transcribe=True
    )
    snapshot = Path(__file__).parent / "snapshots" / f"extract_seen.{language}.txt"
    assert text + "\n" == snapshot.read_text(encoding="utf-8")
    assert set(seen_step().config) == {"prompt"}
