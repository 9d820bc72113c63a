"""Panels that answer: which of several models get a question right, and whether it is kept for it.

A filter by answers, each scored by the method's own rule. Panels that vote are in ``judging``.
"""

from proofstone.engines.panel.answering import ask_members, member_answer
from proofstone.engines.panel.difficulty import (
    DifficultyRule,
    MemberAnswer,
    MemberState,
    PanelDecision,
    all_wrong,
    at_least_wrong,
    decide_difficulty,
    not_all_right,
)
from proofstone.engines.panel.filtering import PanelFilter, filtered_roles, panel_step

__all__ = [
    "DifficultyRule",
    "MemberAnswer",
    "MemberState",
    "PanelDecision",
    "PanelFilter",
    "all_wrong",
    "ask_members",
    "at_least_wrong",
    "decide_difficulty",
    "filtered_roles",
    "member_answer",
    "not_all_right",
    "panel_step",
]
