"""What a document is stored under: its content, its name, and the ids made of them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import orjson

from proofstone.api import create_workspace
from proofstone.ingest.ingest import ingest_paths
from proofstone.records.knowledge import passage_id, source_id


def test_sources_and_passages_are_stored_under_the_ids_of_what_they_are(tmp_path: Path) -> None:
    """Two titles of one file share its content, and are two sources."""
    folder = tmp_path / "documents"
    folder.mkdir()
    rows = [{"text": "Iron rusts.", "title": "A"}, {"text": "Gold does not.", "title": "B"}]
    texts = {
        "notes.txt": b"\xef\xbb\xbfOne\r\ntwo.\n\nThree.",
        "rows.jsonl": b"\n".join(orjson.dumps(row) for row in rows),
    }
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    with create_workspace(tmp_path / "work") as workspace:
        ingest_paths(workspace.store, [folder], clock=workspace.clock)
        knowledge = workspace.store.knowledge
        contents = {sha256(text).digest() for text in texts.values()}
        sources = [
            each for content in contents for each in workspace.store.pages.sources_of(content)
        ]
        found = {each.title: each for each in sources}
        stored = {name: list(knowledge.passages_of(each.id)) for name, each in found.items()}
    assert len(sources) == 3
    for name, file in {"notes": "notes.txt", "A": "rows.jsonl", "B": "rows.jsonl"}.items():
        source = found[name]
        assert source.id == source_id(source)
        assert source.content == sha256(texts[file]).digest()
        assert source.origin == file
        for passage in stored[name]:
            assert passage.source == source.id
            assert passage.id == passage_id(passage)
    assert [passage.text for passage in stored["notes"]] == ["One\r\ntwo.", "Three."]
    assert found["A"].id != found["B"].id
