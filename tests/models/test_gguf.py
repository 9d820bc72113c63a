"""The context window of a model is read from the fields of its file, whatever comes before it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from proofstone.errors import BadUsage
from proofstone.models.entries import BUNDLED, bundled_file
from proofstone.models.gguf import open_gguf
from proofstone.models.local import open_local


def text(said: str) -> bytes:
    return struct.pack("<Q", len(said)) + said.encode()


def field(name: str, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


BEFORE = [
    field("general.architecture", 8, text("tiny")),
    field("general.tags", 9, struct.pack("<IQ", 8, 2) + text("one") + text("two")),
    field("tiny.sizes", 9, struct.pack("<IQ3H", 2, 3, 1, 2, 3)),
    field("tiny.ratio", 12, struct.pack("<d", 0.5)),
    field("tiny.is_small", 7, b"\1"),
    field("tiny.rope.scaling.original_context_length", 4, struct.pack("<I", 77)),
]
WINDOW = field("tiny.context_length", 4, struct.pack("<I", 2048))


def gguf(*fields: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(fields)) + b"".join(fields)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf(*BEFORE, WINDOW))
    return path


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.gguf"
    path.write_bytes(b"GGUF and some weights")
    return path


def test_the_window_is_found_after_fields_of_every_type(file: Path) -> None:
    assert open_gguf(file).trained_window == 2048
    file.write_bytes(gguf(*BEFORE, field("tiny.context_length", 10, struct.pack("<Q", 131_072))))
    assert open_gguf(file).trained_window == 131_072


def test_a_file_without_the_field_has_no_known_window(file: Path) -> None:
    nested = field("tiny.lists", 9, struct.pack("<IQ", 9, 1))
    unknown = field("tiny.other", 99, b"")
    for fields in (BEFORE, [nested, WINDOW], [unknown, WINDOW]):
        file.write_bytes(gguf(*fields))
        assert open_gguf(file).trained_window is None


def test_a_file_that_ends_early_has_no_known_window(file: Path) -> None:
    """Neither where a download ended, nor where garbage follows, is anything raised."""
    whole = file.read_bytes()
    for end in range(4, len(whole)):
        file.write_bytes(whole[:end])
        assert open_gguf(file).trained_window is None
    for end in range(4, len(whole), 7):
        file.write_bytes(whole[:end] + b"\xff" * 64)
        found = open_gguf(file).trained_window
        assert found is None or found > 0


async def test_no_more_context_is_asked_for_than_the_model_has(file: Path) -> None:
    with pytest.raises(BadUsage, match=r"ctx is 4,000, .* trained with .* 2,048 tokens") as raised:
        await open_local(f"{file}?ctx=4000")
    assert str(raised.value.hint).startswith("ctx=2048 or less")
    for options, window in (("", 2048), ("?parallel=1", 2048), ("?ctx=512", 512)):
        model = await open_local(f"{file}{options}", command=("true",))
        assert model.limits.window == window
        await model.close()


async def test_an_unknown_window_is_not_checked(plain: Path) -> None:
    model = await open_local(f"{plain}?ctx=9000", command=("true",))
    assert model.limits.window == 9000
    await model.close()


def test_the_bundled_model_names_its_window() -> None:
    assert open_gguf(bundled_file(BUNDLED["smollm2-135m"])).trained_window == 8192
