"""Images in the store: each once, by the hash of its bytes, in workspaces of every age."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rows_for_tests import open_store
from sqlalchemy import text

from proofstone.errors import BadInput, NotFound
from proofstone.records.ids import digest
from proofstone.store.copies import merge
from proofstone.store.store import Store

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


@pytest.fixture
def store(url: str) -> Store:
    return open_store(url)


def test_an_image_is_kept_once_and_given_back(store: Store) -> None:
    part = store.images.add(PNG)
    assert store.images.add(PNG) == part
    assert part.digest == digest(PNG)
    assert store.images.image(part.digest) == PNG
    assert store.calls.image(part.digest) == PNG  # as a client reads it
    with store.database.reading() as connection:
        rows = connection.execute(text("SELECT media_type FROM image")).all()
    assert [tuple(row) for row in rows] == [("image/png",)]
    store.close()


def test_what_is_no_image_is_not_kept(store: Store) -> None:
    with pytest.raises(BadInput, match="figure 1: expected a PNG"):
        store.images.add(b"%PDF-1.7", "figure 1")
    with pytest.raises(NotFound, match="is not in this workspace"):
        store.images.image(digest(b"%PDF-1.7"))
    store.close()


def test_images_travel_with_a_merge(new_database: Callable[[], str]) -> None:
    origin, target = open_store(new_database()), open_store(new_database())
    part = origin.images.add(PNG)
    for added in (1, 0):
        assert merge(origin.database, target.database).added["image"] == added
    assert target.images.image(part.digest) == PNG
    origin.close()
    target.close()
