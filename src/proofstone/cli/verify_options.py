"""Options of commands that verify triples: how many, which, and what judges are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from proofstone.cli.options import with_options

__all__ = ["SAMPLE_OPTIONS", "sample_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

# The parameters by which they arrive, with the option that gives each.
SAMPLE_OPTIONS = {
    "sample": "--sample",
    "sampling": "--sampling",
    "sample_per": "--sample-per",
    "over": "--recall-over",
    "recall": "--recall",
    "way": "--way",
    "k": "--k",
    "candidates": "--candidates",
}


def sample_options(command: Command) -> Command:
    """Adds them; they arrive under the names of ``VerifySettings``."""
    return with_options(
        click.option(
            "--sample", type=click.IntRange(0), default=500, show_default=True,
            help="Triples of each model, and of the reference, that are judged; 0: all.",
        ),
        click.option(
            "--sampling", type=click.Choice(["entities", "triples"]), default="entities",
            show_default=True,
            help="Draw an entity and then one of its triples, or uniformly over triples.",
        ),
        click.option(
            "--sample-per", type=click.Choice(["all", "domain", "popularity"]), default="all",
            show_default=True,
            help="Draw --sample triples overall, or of each domain or popularity (as published).",
        ),
        click.option(
            "--recall-over", "over", type=click.Choice(["reference", "elicited"]),
            default="reference", show_default=True,
            help="Recall over all entities of the reference, or those that somebody gave a triple "
            "of.",
        ),
        click.option(
            "--recall", type=click.Choice(["together", "single"]), default="together",
            show_default=True,
            help="Recall by what all elicited triples of an entity entail together (as published), "
            "or by whether a single triple covers the reference triple (stricter).",
        ),
        click.option(
            "--way", type=click.Choice(["bm25", "dense", "hybrid"]), default="bm25",
            show_default=True,
            help="Find passages and candidates by words, by meaning, or by both.",
        ),
        click.option(
            "--k", type=click.IntRange(1, 50), default=10, show_default=True,
            help="Passages a triple.",
        ),
        click.option(
            "--candidates", type=click.IntRange(1, 50), default=10, show_default=True,
            help="With --recall single: elicited triples that are shown for one of the reference.",
        ),
    )(command)  # fmt: skip
