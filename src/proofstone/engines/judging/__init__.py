"""Judging: a closed label on a text, by one model or a panel, with every vote accounted for."""

from proofstone.engines.judging.accounts import JudgeAccount, JudgeTally, judge_accounts
from proofstone.engines.judging.arranging import arrangements
from proofstone.engines.judging.fencing import fence_code, harmless
from proofstone.engines.judging.injections import (
    Attack,
    AttackResult,
    AttackSummary,
    attacks,
    summarise_attacks,
    try_attacks,
)
from proofstone.engines.judging.panel import JudgeModel, JudgingRules, Panel
from proofstone.engines.judging.posing import ReplyForm, fence, pose
from proofstone.engines.judging.questions import QuestionAccount, QuestionTally
from proofstone.engines.judging.reading import ReadLabel, read_label
from proofstone.engines.judging.row_judge import RowJudge
from proofstone.engines.judging.seated import (
    TIED,
    UNJUDGED,
    SeatedJudges,
    panel_parameters,
    seated_judges,
    why_undecided,
)
from proofstone.engines.judging.votes import decide, without
from proofstone.engines.judging.worded import WordedQuestions
from proofstone.records import PanelRules

__all__ = [
    "TIED",
    "UNJUDGED",
    "Attack",
    "AttackResult",
    "AttackSummary",
    "JudgeAccount",
    "JudgeModel",
    "JudgeTally",
    "JudgingRules",
    "Panel",
    "PanelRules",
    "QuestionAccount",
    "QuestionTally",
    "ReadLabel",
    "ReplyForm",
    "RowJudge",
    "SeatedJudges",
    "WordedQuestions",
    "arrangements",
    "attacks",
    "decide",
    "fence",
    "fence_code",
    "harmless",
    "judge_accounts",
    "panel_parameters",
    "pose",
    "read_label",
    "seated_judges",
    "summarise_attacks",
    "try_attacks",
    "why_undecided",
    "without",
]
