"""Questions over option sets: what they offer, how they are drawn, and which option was chosen."""

from proofstone.engines.choices.extract import Extraction, Scope, Tier, extract_choice
from proofstone.engines.choices.extract_rows import extract_rows
from proofstone.engines.choices.letters import labels
from proofstone.engines.choices.outcome import (
    Reading,
    VerdictReadings,
    read_choice,
    read_choices,
    read_verdict,
    read_verdicts,
)
from proofstone.engines.choices.refusals import opens_with_refusal
from proofstone.engines.choices.several import extract_choices, joined
from proofstone.engines.choices.verdict_lists import VerdictList, extract_verdicts
from proofstone.engines.choices.verdicts import extract_verdict

__all__ = [
    "Extraction",
    "Reading",
    "Scope",
    "Tier",
    "VerdictList",
    "VerdictReadings",
    "extract_choice",
    "extract_choices",
    "extract_rows",
    "extract_verdict",
    "extract_verdicts",
    "joined",
    "labels",
    "opens_with_refusal",
    "read_choice",
    "read_choices",
    "read_verdict",
    "read_verdicts",
]
