"""The frozen rows of the data flow, from Source to Estimate, and nothing else.

They are out of the cyclic garbage collector's sight (``gc=False``): a frozen row cannot come to
refer to itself, and walking a bank's 43,000 facts again and again took a fifth of a run's time.
"""

from proofstone.records.accuracies import Accuracies
from proofstone.records.cards import Card, CardSnapshot, ModelCheck, Price, merged_card
from proofstone.records.corrections import (
    Action,
    Correction,
    Ruling,
    Verdict,
    correction_id,
    ruling_id,
)
from proofstone.records.file_columns import FileColumns, TextCodes, coded_texts
from proofstone.records.frames import Coded
from proofstone.records.funnels import Funnel, FunnelStep
from proofstone.records.items import (
    Item,
    ItemSet,
    LoadedItem,
    Oracle,
    TextForm,
    Unit,
    Way,
    composed_set_id,
    corrected_set,
    imported_set_id,
    item_id,
)
from proofstone.records.judged import Judged
from proofstone.records.knowledge import (
    Bank,
    Fact,
    Passage,
    Role,
    RoleName,
    Source,
    Stratum,
    bank_id,
    fact_id,
    passage_id,
    source_id,
)
from proofstone.records.messages import (
    IMAGE_TYPES,
    MAX_IMAGE_BYTES,
    ImagePart,
    ImageType,
    Message,
    TextPart,
    image_part,
)
from proofstone.records.own_prompts import PROMPT, PROMPT_NAME, OwnPrompt, own_prompt_of
from proofstone.records.people import Person
from proofstone.records.plans import Plan, plan_id
from proofstone.records.presets import Choice, Preset
from proofstone.records.results import (
    OUR_SETTINGS,
    OUTCOMES,
    CallState,
    Estimate,
    Finish,
    Measure,
    Outcome,
    Purpose,
    Reply,
    Run,
    Scale,
    Score,
    Usage,
    asked_as,
    run_id,
    run_label,
)
from proofstone.records.rows import Row, SiftedRow, SiftedRows
from proofstone.records.score_table import Corrections, HeldRole, Respondent, ScoreTable
from proofstone.records.spent import Spent, usd
from proofstone.records.tabulation import Cell, Column, Tabulation

__all__ = [
    "IMAGE_TYPES",
    "MAX_IMAGE_BYTES",
    "OUR_SETTINGS",
    "OUTCOMES",
    "PROMPT",
    "PROMPT_NAME",
    "Accuracies",
    "Action",
    "Bank",
    "CallState",
    "Card",
    "CardSnapshot",
    "Cell",
    "Choice",
    "Coded",
    "Column",
    "Correction",
    "Corrections",
    "Estimate",
    "Fact",
    "FileColumns",
    "Finish",
    "Funnel",
    "FunnelStep",
    "HeldRole",
    "ImagePart",
    "ImageType",
    "Item",
    "ItemSet",
    "Judged",
    "LoadedItem",
    "Measure",
    "Message",
    "ModelCheck",
    "Oracle",
    "Outcome",
    "OwnPrompt",
    "Passage",
    "Person",
    "Plan",
    "Preset",
    "Price",
    "Purpose",
    "Reply",
    "Respondent",
    "Role",
    "RoleName",
    "Row",
    "Ruling",
    "Run",
    "Scale",
    "Score",
    "ScoreTable",
    "SiftedRow",
    "SiftedRows",
    "Source",
    "Spent",
    "Stratum",
    "Tabulation",
    "TextCodes",
    "TextForm",
    "TextPart",
    "Unit",
    "Usage",
    "Verdict",
    "Way",
    "asked_as",
    "bank_id",
    "coded_texts",
    "composed_set_id",
    "corrected_set",
    "correction_id",
    "fact_id",
    "image_part",
    "imported_set_id",
    "item_id",
    "merged_card",
    "own_prompt_of",
    "passage_id",
    "plan_id",
    "ruling_id",
    "run_id",
    "run_label",
    "source_id",
    "usd",
]
