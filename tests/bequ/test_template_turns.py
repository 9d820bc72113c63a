"""A template for entities may mark its turns."""

from __future__ import annotations

import pytest

from proofstone.errors import BadInput
from proofstone.methods.bequ.ask import check_prompt, own_prompt_messages, read_prompt_method
from proofstone.methods.bequ.entities import Entity
from proofstone.records.calls import Message
from proofstone.records.items import OwnPrompt

MARKED = "{# system #}\nSay what you know.\n{# user #}\nTell me of:\n{{ entity }}\n"


def test_marked_turns_are_sent_as_turns() -> None:
    """Also where the last line is the entity alone."""
    found = own_prompt_messages(
        OwnPrompt("mine.jinja", MARKED), Entity(name="Ulm"), read_prompt_method("direct"), ""
    )
    assert found == [Message("system", "Say what you know."), Message("user", "Tell me of:\nUlm")]


def test_without_marks_a_last_line_of_the_entity_is_the_user_message() -> None:
    text = "Say what you know.\n{{ entity }}"
    found = own_prompt_messages(
        OwnPrompt("a", text), Entity(name="Ulm"), read_prompt_method("direct"), ""
    )
    assert found == [Message("system", "Say what you know."), Message("user", "Ulm")]


def test_turns_that_no_model_takes_are_refused() -> None:
    text = "{# user #}\n{{ entity }}\n{# system #}\nSay what you know."
    with pytest.raises(BadInput, match="the turns of a are user, system"):
        check_prompt(OwnPrompt("a", text), "direct", None)  # type: ignore[arg-type]
