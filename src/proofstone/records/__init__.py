"""The frozen rows of the data flow, from Source to Estimate, and nothing else.

They are out of the cyclic garbage collector's sight (``gc=False``): a frozen row cannot come to
refer to itself, and walking a bank's 43,000 facts again and again took a fifth of a run's time.
"""

from proofstone.records.items import (
    Item,
    ItemSet,
    LoadedItem,
    Message,
    Oracle,
    TextForm,
    Unit,
    Way,
    composed_set_id,
    imported_set_id,
    item_id,
)
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
from proofstone.records.people import Person
from proofstone.records.results import (
    OUTCOMES,
    CallState,
    Estimate,
    Finish,
    Measure,
    Outcome,
    Purpose,
    Reply,
    Run,
    Score,
    Usage,
    run_id,
)
from proofstone.records.score_table import Respondent, ScoreTable

__all__ = [
    "OUTCOMES",
    "Bank",
    "CallState",
    "Estimate",
    "Fact",
    "Finish",
    "Item",
    "ItemSet",
    "LoadedItem",
    "Measure",
    "Message",
    "Oracle",
    "Outcome",
    "Passage",
    "Person",
    "Purpose",
    "Reply",
    "Respondent",
    "Role",
    "RoleName",
    "Run",
    "Score",
    "ScoreTable",
    "Source",
    "Stratum",
    "TextForm",
    "Unit",
    "Usage",
    "Way",
    "bank_id",
    "composed_set_id",
    "fact_id",
    "imported_set_id",
    "item_id",
    "passage_id",
    "run_id",
    "source_id",
]
