"""The groups that scores are shown by (section 4.4 and appendix D of the paper)."""

from __future__ import annotations

from collections.abc import Mapping

from proofstone.methods.chinese_simpleqa.payloads import asked_of
from proofstone.records import LoadedItem
from proofstone.wording import noted

__all__ = ["GROUPINGS", "LEVEL_NAMES", "groups_of"]

_ANSWER_TYPE = noted("answer type")
GROUPINGS = (_ANSWER_TYPE,)
LEVEL_NAMES: Mapping[str, str] = {
    "discipline": noted("primary category"),
    "field": noted("secondary category"),
}


def groups_of(item: LoadedItem) -> Mapping[str, str]:
    """The type of an item's answer; empty where nobody said."""
    return {_ANSWER_TYPE: asked_of(item).answer_type}
