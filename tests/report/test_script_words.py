"""Every word that a script of a page asks for is among the words that the page gives it."""

from __future__ import annotations

import re
from typing import Literal

import pytest

from proofstone.page.html import ITEM_SCRIPT, TRIPLE_SCRIPT, page_script, script_words

# Words are asked for by name, also in lists of heads and columns.
_ASKED = re.compile(r"""say\("(\w+)"|\["(\w+)", (?:\[|KINDS)|of: "(\w+)\"""")


@pytest.mark.parametrize(
    ("browses", "pieces"), [("items", ITEM_SCRIPT), ("triples", TRIPLE_SCRIPT)]
)
def test_a_page_has_the_words_of_its_script(
    browses: Literal["items", "triples"], pieces: tuple[str, ...]
) -> None:
    given = set(re.findall(r"data-says-([a-z-]+)=", script_words(browses)))
    asked = {name for found in _ASKED.findall(page_script(*pieces)) for name in found if name}
    assert len(asked) > 20
    assert {re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower() for name in asked} - given == set()
