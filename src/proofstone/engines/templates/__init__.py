"""Texts that people write for the program to fill in: checked before use, rendered in a sandbox."""

from proofstone.engines.templates.template import Template, read_template

__all__ = ["Template", "read_template"]
