"""Pipelines: rows through steps, each outcome kept by what it depends on, so that nothing is done
twice.

Start at ``performing``. Knows nothing of models, methods or the store: rows, steps and a journal
are handed in.
"""

from __future__ import annotations

from proofstone.engines.pipeline.flow import Workshop
from proofstone.engines.pipeline.funnel import Ended, ended_rows, read_funnel
from proofstone.engines.pipeline.memory import MemoryJournal
from proofstone.engines.pipeline.performing import (
    Performed,
    check_names,
    perform_pipeline,
    plain_keys,
)
from proofstone.engines.pipeline.plain import PlainStep, perform_plain
from proofstone.engines.pipeline.progress import StepProgress
from proofstone.engines.pipeline.rows import ids_digest, make_row, read_row, step_key
from proofstone.engines.pipeline.walking import Pages, Visit, count_unfinished, kept_rows, walk

__all__ = [
    "Ended",
    "MemoryJournal",
    "Pages",
    "Performed",
    "PlainStep",
    "StepProgress",
    "Visit",
    "Workshop",
    "check_names",
    "count_unfinished",
    "ended_rows",
    "ids_digest",
    "kept_rows",
    "make_row",
    "perform_pipeline",
    "perform_plain",
    "plain_keys",
    "read_funnel",
    "read_row",
    "step_key",
    "walk",
]
