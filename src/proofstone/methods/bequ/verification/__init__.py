"""Triples checked both ways: is what was said true, and was what is known said."""

from proofstone.methods.bequ.verification.cells import MEASURES
from proofstone.methods.bequ.verification.correcting import Corrected, correct_by_people
from proofstone.methods.bequ.verification.counting import OUTCOMES, Counted
from proofstone.methods.bequ.verification.gathering import Gathered, Told
from proofstone.methods.bequ.verification.measures import measure_all, measure_by
from proofstone.methods.bequ.verification.people import (
    Checked,
    PeopleSaid,
    checked_of,
    read_people,
)
from proofstone.methods.bequ.verification.planning import (
    Asked,
    RecallOver,
    Sampled,
    VerifyPlan,
    VerifySettings,
    known_triples,
    make_plan,
)
from proofstone.methods.bequ.verification.questions import QUESTIONS_VERSION
from proofstone.methods.bequ.verification.ranking import (
    RankedGroups,
    held_elsewhere,
    rank_by_f1,
    rankable,
    spreads_of,
)
from proofstone.methods.bequ.verification.records import GivenTriple, ReferenceRow
from proofstone.methods.bequ.verification.result_rows import (
    combined_rows,
    counted_rows,
    result_tables,
    verdict_row,
)
from proofstone.methods.bequ.verification.sampling import SAMPLING_WAYS, SamplingWay, sample_places
from proofstone.methods.bequ.verification.spool import Spool
from proofstone.methods.bequ.verification.verifying import (
    Decided,
    IsDone,
    Posed,
    decide,
    posed_questions,
    verify,
)

__all__ = [
    "MEASURES",
    "OUTCOMES",
    "QUESTIONS_VERSION",
    "SAMPLING_WAYS",
    "Asked",
    "Checked",
    "Corrected",
    "Counted",
    "Decided",
    "Gathered",
    "GivenTriple",
    "IsDone",
    "PeopleSaid",
    "Posed",
    "RankedGroups",
    "RecallOver",
    "ReferenceRow",
    "Sampled",
    "SamplingWay",
    "Spool",
    "Told",
    "VerifyPlan",
    "VerifySettings",
    "checked_of",
    "combined_rows",
    "correct_by_people",
    "counted_rows",
    "decide",
    "held_elsewhere",
    "known_triples",
    "make_plan",
    "measure_all",
    "measure_by",
    "posed_questions",
    "rank_by_f1",
    "rankable",
    "read_people",
    "result_tables",
    "sample_places",
    "spreads_of",
    "verdict_row",
    "verify",
]
