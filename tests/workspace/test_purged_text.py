"""What of stored texts is found to quote a purged source."""

from __future__ import annotations

from proofstone.store.payloads import Finder, sentences, strings_of


def test_whole_sentences_are_found_whatever_the_white_space_and_case() -> None:
    """And nothing that is too short to be anybody's own; a Chinese character weighs two."""
    finder = Finder(["Gold has atomic number 79.", "Short one", "金的原子序数是七十九"])
    assert finder.finds("... GOLD  has atomic\nnumber 79. Right?")
    assert not finder.finds("Gold has atomic number 78.")
    assert not finder.finds("Short one")
    assert Finder(["Sixteen letters."]).finds("Sixteen letters.")
    assert not Finder(["Only 15 letters"]).finds("Only 15 letters")
    assert finder.finds("答：金的原子序数是七十九。")
    assert not finder.finds("")


def test_texts_of_bodies_are_read_as_what_they_are() -> None:
    """JSON by its strings without tags, a stream by its events, anything else whole."""
    assert strings_of(b'{"type":"a.b","x":["one",{"y":"tw\\u006f"}],"n":3}') == ["one", "two"]
    stream = b'data: {"choices":[{"delta":{"content":"three"}}]}\n\ndata: [DONE]\n'
    assert "three" in strings_of(stream)
    assert strings_of(b"plain words") == ["plain words"]
    assert sentences("One. Two!\n三。四") == ["One. Two!\n三。四", "One.", "Two!", "三。", "四"]
