"""Texts that people write for the program to fill in: checked before use, rendered in a sandbox."""

from proofstone.engines.templates.template import Template, read_template
from proofstone.engines.templates.turns import Turns, answer_format_in, read_turns

__all__ = ["Template", "Turns", "answer_format_in", "read_template", "read_turns"]
