"""The index of a workspace's sources: what is kept, when it is made again, what it tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from numpy.typing import NDArray

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage
from proofstone.records.ids import short
from proofstone.records.knowledge import Passage, Source, passage_id, source_id
from proofstone.search.chunks import Chunking
from proofstone.search.sources import Indexing, RetrievedChunk

HERBAL = ("Mint grows in wet soil. Its oil is called menthol.", "Sage grows in dry soil.")
ALMANAC = ("The tide is high at noon.", "潮水在正午最高。薄荷生长在湿土中。")


def add(workspace: Workspace, title: str, texts: Sequence[str]) -> Source:
    """A source with these passages, a page each."""
    source = Source(kind="document", title=title, content=title.encode().ljust(32))
    source = structs.replace(source, id=source_id(source))
    made = [
        Passage(source=source.id, page=page, start=0, end=len(text), text=text)
        for page, text in enumerate(texts, start=1)
    ]
    passages = [structs.replace(each, id=passage_id(each)) for each in made]
    workspace.store.knowledge.add_passages(source, passages)
    return source


class Counted:
    """An embedder that counts the texts it was given."""

    name = "counted"

    def __init__(self) -> None:
        self.n_texts = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.n_texts += len(texts)
        made = np.asarray([[1.0, "soil" in text, len(text)] for text in texts]).reshape(-1, 3)
        return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        add(opened, "Herbal", HERBAL)
        add(opened, "Almanac", ALMANAC)
        yield opened


def told(found: Sequence[RetrievedChunk]) -> list[tuple[str, int | None, str]]:
    return [(each.source.title, each.passage.page, each.text) for each in found]


def test_a_chunk_is_traced_to_its_source_and_page(workspace: Workspace) -> None:
    small = Indexing(chunking=Chunking(most=8))
    (found,) = workspace.index(indexing=small).search(["menthol oil"], 1)
    assert told(found) == [("Herbal", 1, "Its oil is called menthol.")]
    assert found[0].passage.text[found[0].start : found[0].end] == found[0].text
    assert told(workspace.search("薄荷", 1)) == [("Almanac", 2, ALMANAC[1])]


def test_nothing_is_made_again_that_has_not_changed(workspace: Workspace) -> None:
    first, embedding_model = workspace.index(), Counted()
    assert (first.n_sources, first.n_made) == (2, 2)
    again = workspace.index(embedding_model=embedding_model)
    assert (again.n_made, embedding_model.n_texts) == (0, len(HERBAL) + len(ALMANAC))
    assert workspace.index(embedding_model=embedding_model).n_made == 0
    assert embedding_model.n_texts == len(HERBAL) + len(ALMANAC)
    assert workspace.index().key == first.key != again.key


def test_a_source_that_changed_is_made_again_and_no_other(workspace: Workspace) -> None:
    before = workspace.index()
    titles: list[str] = []
    add(workspace, "Herbal", [*HERBAL, "Thyme grows on walls."])
    after = workspace.index(tell=titles.append)
    assert (titles, after.n_made) == (["Herbal"], 1)
    assert after.key != before.key
    assert told(after.search(["thyme"], 1)[0]) == [("Herbal", 3, "Thyme grows on walls.")]


def test_another_way_of_cutting_is_another_index(workspace: Workspace) -> None:
    plain = workspace.index()
    small = workspace.index(indexing=Indexing(chunking=Chunking(most=8)))
    assert (small.n_made, small.n_chunks) == (2, 8)
    assert plain.n_chunks == len(HERBAL) + len(ALMANAC)
    assert small.key != plain.key


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "foreign"])
def test_a_damaged_file_is_made_again_and_never_believed(workspace: Workspace, damage: str) -> None:
    embedding_model = Counted()
    before = workspace.index(embedding_model=embedding_model)
    folder = workspace.folder / ".proofstone" / "retrieval"
    for file in folder.iterdir():
        body = file.read_bytes()
        bits = bytearray(body)
        bits[-5] ^= 1
        other = {"cut": body[:-9], "bit": bytes(bits), "empty": b"", "foreign": b"{}" * 40}
        file.write_bytes(other[damage])
    after = workspace.index(embedding_model=embedding_model)
    assert after.n_made == 2
    assert embedding_model.n_texts == 2 * (len(HERBAL) + len(ALMANAC))
    assert after.key == before.key
    assert told(after.search(["mint"], 1, "bm25")[0]) == [("Herbal", 1, HERBAL[0])]


def test_a_file_of_another_source_is_not_believed(workspace: Workspace) -> None:
    workspace.index()
    one, other = sorted((workspace.folder / ".proofstone" / "retrieval").iterdir())
    other.write_bytes(one.read_bytes())
    assert workspace.index().n_made == 1


def test_a_purge_takes_what_was_kept(workspace: Workspace) -> None:
    workspace.index(embedding_model=Counted())
    (source,) = [s for s in workspace.store.lookup.every("source") if s.name == "Herbal"]
    report = workspace.purge(f"source:{short(source.id)}", reason="asked to", name="Ann")
    assert [Path(file).suffix for file in report.files] == [".vectors", ".words"]
    left = list((workspace.folder / ".proofstone" / "retrieval").iterdir())
    assert len(left) == 2
    assert not any(source.id.hex() in file.name for file in left)
    assert told(workspace.search("mint", 3)) == []


def test_what_is_left_of_a_source_that_is_gone_goes(workspace: Workspace) -> None:
    """A purge that ended before its files did, or was done by another folder's process."""
    workspace.index()
    stray = workspace.folder / ".proofstone" / "retrieval" / f"{'ab' * 32}.words"
    stray.write_bytes(b"kept once")
    workspace.index()
    assert not stray.exists()


def test_a_search_may_be_of_some_sources(workspace: Workspace) -> None:
    assert told(workspace.search("soil tide", 9, sources=["Almanac"])) == [
        ("Almanac", 1, ALMANAC[0])
    ]


def edition(workspace: Workspace, n: int, **about: Any) -> Source:
    """An edition of one manual, which says of itself that it is the n-th."""
    source = Source(
        kind="document", title="Manual", content=f"{n}".encode().ljust(32), language="en",
        origin="manual.pdf",
    )  # fmt: skip
    source = structs.replace(source, **about)
    source = structs.replace(source, id=source_id(source))
    text = f"A package is held by command {n}."
    passage = Passage(source=source.id, start=0, end=len(text), text=text)
    workspace.store.knowledge.add_passages(
        source, [structs.replace(passage, id=passage_id(passage))]
    )
    return source


def shown(workspace: Workspace, **options: Any) -> list[str]:
    found = workspace.search("package held command", 9, **options)
    return sorted(each.text.rpartition(" ")[2].rstrip(".") for each in found)


def test_of_a_document_that_was_read_again_the_newest_edition_is_searched(
    workspace: Workspace,
) -> None:
    old, _new = edition(workspace, 1), edition(workspace, 2)
    assert workspace.index().former == ("Manual",)
    assert shown(workspace) == ["2"]
    assert shown(workspace, sources=[f"source:{short(old.id)}"]) == ["1"]


def test_the_later_year_is_the_newer_edition_whichever_was_read_first(
    workspace: Workspace,
) -> None:
    edition(workspace, 1, year=2025, origin="m25.pdf", authors=("Ann",))
    edition(workspace, 2, year=2024, origin="m24.pdf", authors=("Ann",))
    edition(workspace, 3, year=2025, origin="m25b.pdf", authors=("Ann",))
    assert shown(workspace) == ["1", "3"]


@pytest.mark.parametrize(
    "about",
    [
        {"origin": "other.pdf"}, {"title": "Another manual"}, {"language": "zh"},
        {"origin": ""}, {"year": 2020, "authors": ("Bob",)},
    ],
)  # fmt: skip
def test_what_is_not_known_to_be_an_edition_is_a_document_of_its_own(
    workspace: Workspace, about: dict[str, Any]
) -> None:
    edition(workspace, 1, **({"origin": ""} if about.get("origin") == "" else {}))
    edition(workspace, 2, **about)
    assert workspace.index().former == ()
    assert shown(workspace) == ["1", "2"]


def test_pages_of_the_web_belong_to_the_search_that_found_them(workspace: Workspace) -> None:
    page = edition(workspace, 1, kind="web")
    assert shown(workspace) == []
    assert shown(workspace, sources=[f"source:{short(page.id)}"]) == ["1"]


class Wider(Counted):
    """An embedder behind whose name another model stands now."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.concatenate([super().embed(texts), np.zeros((len(texts), 1))], axis=1)


def test_vectors_of_another_length_are_made_again_or_refused(workspace: Workspace) -> None:
    workspace.index(embedding_model=Counted())
    with pytest.raises(BadUsage, match="gives 4 numbers per text, and the index holds 3"):
        workspace.index(embedding_model=Wider()).search(["mint"], 1, "dense")
    add(workspace, "Trees", ["An oak is a tree."])
    embedding_model = Wider()
    (found,) = workspace.index(embedding_model=embedding_model).search(["mint"], 5, "dense")
    assert len(found) == len(HERBAL) + len(ALMANAC) + 1
    assert embedding_model.n_texts == len(HERBAL) + len(ALMANAC) + 1 + 1  # with the query


def test_by_meaning_with_an_embedder_of_ones_own(workspace: Workspace) -> None:
    """The nearest is as long as the query and has its word."""
    found = workspace.search(
        "It grows in dry soil...", 1, search_method="dense", embedding_model=Counted()
    )
    assert told(found) == [("Herbal", 2, HERBAL[1])]


def test_a_workspace_without_sources_finds_nothing(tmp_path: Path) -> None:
    with create_workspace(tmp_path) as empty:
        assert empty.search("anything") == []


def test_two_ways_to_split_keep_their_files(workspace: Workspace) -> None:
    """Runs with chunks of different lengths may alternate: nothing is made twice."""
    embedding_model = Counted()
    ways = [Indexing(), Indexing(chunking=Chunking(most=8))]
    for way in ways:
        assert workspace.index(indexing=way, embedding_model=embedding_model).n_made == 2
    n_texts = embedding_model.n_texts
    for way in [*ways, *ways]:
        assert workspace.index(indexing=way, embedding_model=embedding_model).n_made == 0
    assert embedding_model.n_texts == n_texts
