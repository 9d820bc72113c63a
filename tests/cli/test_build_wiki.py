"""What the help of ``build entities`` names is taken."""

from __future__ import annotations

from pathlib import Path

from told import Proofstone


def test_a_live_wiki_is_an_input_of_its_plain_name(empty: Path, proofstone: Proofstone) -> None:
    """It gets as far as its own options; another plain word is a list that is not there."""
    said = proofstone("build", "entities", "wiki", "-m", "openai/x", "-w", empty)
    assert "a live wiki needs the number of pages to sample" in said.err
    said = proofstone("build", "entities", "wikki", "-m", "openai/x", "-w", empty)
    assert "no form or bank is named 'wikki'" in said.err
