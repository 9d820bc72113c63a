"""What enters a build: passages of sources, of books and alone, each once, in the languages that
are wanted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.build.inputs import BuildSpec, entering_rows
from proofstone.build.taxonomy_label import PLACING
from proofstone.documents.sources import Stated
from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.ingest.ingest import ingest_paths
from proofstone.methods.encyclo_k.extraction import PIPELINES
from proofstone.records.knowledge import Stratum
from serving import HurriedClock

ENGLISH = [f"The {metal} of this book conducts heat well at any time." for metal in ("tin", "gold")]
CHINESE = [f"本书所述的{metal}在任何时候都能很好地导热。" for metal in ("锡", "金", "铜")]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Two sources of the book Metals, and one of no book."""
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        for name, texts, book in (
            ("One", [*ENGLISH, *CHINESE], "Metals"),
            ("Two", [f"Two says: {text}" for text in ENGLISH], "Metals"),
            ("Three", [f"Three says: {text}" for text in ENGLISH], ""),
        ):
            (tmp_path / f"{name}.txt").write_text("\n\n".join(texts), encoding="utf-8")
            ingest_paths(
                opened.store, [tmp_path / f"{name}.txt"], clock=opened.clock,
                stated=Stated(language="en", stratum=Stratum(book=book)),
            )  # fmt: skip
        yield opened


def entering(workspace: Workspace, *inputs: str, **more: object) -> list[bytes]:
    spec = BuildSpec(kind="statements", inputs=inputs, name="x", **more)  # type: ignore[arg-type]
    rows = entering_rows(workspace.store, PIPELINES["statements"], spec, {})
    return [each.row.id for each in rows]


def passages(workspace: Workspace, source: str) -> list[str]:
    found = workspace.find(source, "source").id
    return [f"passage:{p.id.hex()}" for p in workspace.store.knowledge.passages_of(found)]


def test_a_passage_enters_once_however_it_is_named(workspace: Workspace) -> None:
    """By its book, its source and itself, in any order; what others name stays in its place."""
    whole = entering(workspace, "Metals")
    assert len(whole) == (2 + 3) + 2
    first, second, *_rest = passages(workspace, "One")
    assert entering(workspace, "Metals", "One", "Metals") == whole
    assert entering(workspace, "Two", "Metals") == [*whole[5:], *whole[:5]]
    assert entering(workspace, first, "One", first) == whole[:5]
    assert entering(workspace, second, first, "One") == [whole[1], whole[0], *whole[2:5]]
    assert entering(workspace, "One", second, passages(workspace, "Two")[0]) == whole[:6]


def test_a_draw_of_each_input_lets_no_passage_enter_twice(workspace: Workspace) -> None:
    of_book, of_source = (entering(workspace, name, per_input=2) for name in ("Metals", "Two"))
    both = entering(workspace, "Metals", "Two", per_input=2)
    assert both == list(dict.fromkeys([*of_book, *of_source]))
    assert entering(workspace, "Two", "Two", per_input=2) == of_source


def test_a_source_is_of_the_book_where_it_was_placed_last(workspace: Workspace) -> None:
    """A placement puts it into a book, and takes it out of the one that was stated."""
    workspace.place("Three", {"book": "Metals"}, reason="its second volume", by="Ada")
    assert len(entering(workspace, "Metals")) == 5 + 2 + 2
    workspace.place("Three", {"book": "Other metals"}, reason="no, its own", by="Ada")
    workspace.place("Two", {"book": "Other metals"}, reason="this one too", by="Ada")
    assert len(entering(workspace, "Metals")) == 5
    assert len(entering(workspace, "Other metals")) == 2 + 2
    workspace.place("Three", {"book": None}, reason="of no book", by="Ada")
    workspace.place("Two", {"book": None}, reason="of no book", by="Ada")
    with pytest.raises(NotFound, match="no source is named 'Other metals'"):
        entering(workspace, "Other metals")


def test_only_passages_in_the_languages_that_are_named_enter(workspace: Workspace) -> None:
    whole = entering(workspace, "Metals")
    assert entering(workspace, "Metals", languages=("zh",)) == whole[2:5]
    assert entering(workspace, "Metals", languages=("en", "zh")) == whole
    assert entering(workspace, "Metals", languages=("zh",), limit=1) == whole[2:3]
    assert len(entering(workspace, "One", languages=("zh",), per_input=2)) == 2
    assert entering(workspace, *passages(workspace, "One"), languages=("en",)) == whole[:2]
    assert entering(workspace, "Two", languages=("zh",)) == []


def test_no_passage_in_a_language_is_told(workspace: Workspace) -> None:
    with pytest.raises(BadInput, match="nothing of Two in zh enters the build"):
        workspace.build_in_steps(
            "statements", ["Two"], name="x", models="sim/a", judge="sim/b", languages=["zh"]
        )


def test_what_is_built_of_whole_sources_has_no_languages(workspace: Workspace) -> None:
    spec = BuildSpec(kind="strata", inputs=("One",), name="x", languages=("en",))
    with pytest.raises(BadUsage, match="strata are not built of passages"):
        list(entering_rows(workspace.store, PLACING.pipelines["strata"], spec, {}))
