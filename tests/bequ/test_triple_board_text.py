"""The board of verified triples as a terminal shows it, whole, wide and narrow."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.methods.bequ.records import Elicited, Group, Measured
from proofstone.methods.bequ.report.board import PeopleLooked, TripleBoard, TripleRow
from proofstone.methods.bequ.report.text import (
    read_breakdowns,
    render_triple_board,
    render_triple_parts,
)
from proofstone.records.models import Card
from proofstone.records.runs import Estimate
from proofstone.results.board import LeftOut
from proofstone.stats.ranks import RankInterval

ACME, LAB, SIM = Group("acme/large-3.1", "direct"), Group("lab/small", "direct"), Group("sim/ann")
LATE = Group("lab/late", "direct")


def share(points: float, n: int = 500) -> Estimate:
    """So many points with four either way."""
    low, high = (max(0.0, points - 4) / 100, min(100.0, points + 4) / 100)
    return Estimate(value=points / 100, n=n, low=low, high=high)


def measured(group: Group, f1: float, precision: float, recall: float, **more: float) -> Measured:
    values = {
        "f1": f1, "precision": precision, "recall": recall, "contradiction": 10.0,
        "unparsed": 0.0, "recall_unparsed": 0.0, "without_reference": 1.0, **more,
    }  # fmt: skip
    return Measured(
        group=group,
        counts={"precision": {"entailment": 500}, "recall": {"covered": 500}},
        estimates={name: share(value) for name, value in values.items()},
        more={},
    )


def row(
    found: Measured, low: int = 0, high: int = 0, ties: tuple[int, ...] = (), card: str = ""
) -> TripleRow:
    return TripleRow(
        group=found.group,
        runs=("ab" * 32,),
        simulated=found.group.model.startswith("sim/"),
        elicited=Elicited(
            entities=200,
            given=150,
            abstained=50,
            triples=4_000,
            nonexistent=10,
            nonexistent_given=3,
        ),
        measured=found,
        abstention=share(25.0, 200),
        nonexistent_given=share(30.0, 10),
        rank=RankInterval(low, high) if low else None,
        ties=ties,
        card=Card(openness="open weights", lab=card) if card else None,
    )


def waiting(group: Group) -> TripleRow:
    found = measured(group, 50, 60, 40)
    counts: Mapping[str, Mapping[str, int]] = {"precision": {"entailment": 400, "waiting": 100}}
    return structs.replace(row(structs.replace(found, counts=counts)), waiting=100)


def board(*rows: TripleRow) -> TripleBoard:
    return TripleBoard(
        rows=rows, parts=(), ties=((0, 1),), entities=200, judges="judge/one",
        reference="towns-1f2e", sampling="an entity, then one of its triples, seed 42", seed=0,
    )  # fmt: skip


EVERYONE = board(
    row(measured(ACME, 62.1, 80, 50.5), 1, 2, (0,), card="Acme"),
    row(measured(LAB, 60, 79, 48, unparsed=3.2), 1, 2, (0,)),
    row(measured(SIM, 20, 40, 10), 1, 1),
    waiting(LATE),
)

_WIDE = """\
triples    3 models and 1 simulated over 200 entities; in the sample 500 triples of each, 500 of the reference
sample     an entity, then one of its triples, seed 42
judge      judge/one
reference  towns-1f2e

rank   model                                 F1                  P                  R
1-2 a  acme/large-3.1 direct  62.1 [58.1, 66.1]  80.0 [76.0, 84.0]  50.5 [46.5, 54.5]
1-2 a  lab/small direct       60.0 [56.0, 64.0]  79.0 [75.0, 83.0]  48.0 [44.0, 52.0]

model                      contradicted          abstained  invented  per entity  unparsed  no ref.
acme/large-3.1 direct  10.0 [6.0, 14.0]  25.0 [21.0, 29.0]   3 of 10        20.0       0.0      1.0
lab/small direct       10.0 [6.0, 14.0]  25.0 [21.0, 29.0]   3 of 10        20.0       3.2      1.0
Rows that share a letter do not differ significantly (adjusted for all pairs).
not ranked:
lab/late direct  100 of 500 triples wait for a judge  so far P 60.0, R 40.0

SIMULATED models: a program generated these responses, not a language model
model                   F1                  P                 R
sim/ann  20.0 [16.0, 24.0]  40.0 [36.0, 44.0]  10.0 [6.0, 14.0]

model        contradicted          abstained  invented  per entity  unparsed  no ref.
sim/ann  10.0 [6.0, 14.0]  25.0 [21.0, 29.0]   3 of 10        20.0       0.0      1.0

! lab/small direct: 3.2% of verdicts on its triples are unparsed and count against it: see the judge's responses
  ('show'), or use another judge
95% confidence intervals: bootstrap over entities, jointly for both directions and all models. Rank ranges are
  simultaneous for all models.
contradicted, unparsed, no ref.: percent of the sampled triples; abstained: percent of entities; invented: entities that
  do not exist and got triples; per entity: elicited triples.
"""  # noqa: E501 - as it is on a screen of 120 cells


def test_ranks_ties_and_who_stands_apart() -> None:
    assert render_triple_board(EVERYONE, width=120) == _WIDE


def test_in_eighty_cells_names_are_whole_and_nothing_runs_over() -> None:
    text = render_triple_board(EVERYONE, width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "1-2 a  acme/large-3.1    62.1 [58.1, 66.1]  80.0 [76.0, 84.0]" in text
    assert "50.5 [46.5, 54.5]\n       direct\n" in text


def test_a_setting_that_all_share_is_said_once() -> None:
    """So that names have its room."""
    text = render_triple_board(board(*EVERYONE.rows[:2]), width=80)
    assert "asked      direct\n" in text
    assert "\n1-2 a  acme/large-3.1  62.1 [58.1, 66.1]" in text


def test_rows_by_their_cards_and_what_a_filter_left_out() -> None:
    shown = structs.replace(
        board(*EVERYONE.rows[:2]), group_by="openness", where="kind=chat",
        left_out=(LeftOut(name="lab/base", why="kind base"),),
    )  # fmt: skip
    text = render_triple_board(shown, card_columns=["lab"], width=100)
    assert text.index("openness: open weights (1 configuration)") < text.index(
        "1-2 a  acme/large-3.1"
    )
    assert text.index("openness: unknown (1 configuration)") < text.index("1-2 a  lab/small")
    assert "acme/large-3.1  Acme " in text
    assert "only kind=chat; left out 1 model: lab/base (kind base)" in text


def test_runs_of_different_entities_are_not_ranked_and_say_so() -> None:
    rows = [structs.replace(each, rank=None, ties=()) for each in EVERYONE.rows[:2]]
    text = render_triple_board(structs.replace(board(*rows), ties=(), is_common=False))
    assert "These runs have different entities, so they are not ranked against each other." in text
    assert "rank  " not in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"other_entities": 3}, "verified on other entities than most: 3 entities differ"),
        ({"measured": Measured(group=LAB, counts={}, estimates={}, more={})},
         "no triple of it is verified"),
        ({"measured": Measured(group=LAB, counts={"precision": {"entailment": 3}},
                               estimates={"precision": share(60)}, more={})},
         "no verdicts on its recall  so far P 60.0"),
    ],
)  # fmt: skip
def test_why_a_row_has_no_rank(changes: dict[str, object], said: str) -> None:
    first, second = EVERYONE.rows[:2]
    shown = board(first, structs.replace(second, rank=None, ties=(), **changes))
    assert said in render_triple_board(shown, width=100)


def test_what_people_say_stands_below() -> None:
    first = structs.replace(
        EVERYONE.rows[0],
        people=PeopleLooked(
            n={"precision": 100, "recall": 0},
            estimates={
                "precision": share(77), "agreement": share(91), "kappa": share(83, 100),
                "corpus": share(70), "true_share": share(88),
            },
        ),
    )  # fmt: skip
    text = render_triple_board(structs.replace(board(first), people_elsewhere=2), width=300)
    assert (
        "acme/large-3.1, with human labels (precision 100): P 77.0 [73.0, "
        "81.0]; agreement of judge and human labels 91.0 [87.0, 95.0]; kappa 0.83 "
        "(0.79 to 0.87); recall of the reference itself 70.0 [66.0, 74.0]; "
        "true by any source 88.0 [84.0, 92.0]\n"
    ) in text
    assert "human labels on triples that are in no row: 2\n" in text


def parts(by: str, *values: str) -> tuple[Measured, ...]:
    return tuple(
        structs.replace(measured(group, 60, 80, 50), by=by, value=value)
        for group in (LAB, ACME)
        for value in values
    )


_PARTS = (
    "source  model           n P  n R                 F1                  "
    "P                  R\nweb     acme/large-3.1  500  500  60.0 [56.0, "
    "64.0]  80.0 [76.0, 84.0]  50.0 [46.0, 54.0]\n        lab/small       "
    "500  500  60.0 [56.0, 64.0]  80.0 [76.0, 84.0]  50.0 [46.0, 54.0]\n"
    "wiki    acme/large-3.1  500  500  60.0 [56.0, 64.0]  80.0 [76.0, "
    "84.0]  50.0 [46.0, 54.0]\n        lab/small       500  500  60.0 "
    "[56.0, 64.0]  80.0 [76.0, 84.0]  50.0 [46.0, 54.0]\nP by the source of "
    "the evidence passage; R by the source of the reference triple\n"
)


def test_by_a_breakdown_rows_stand_in_the_order_of_the_board() -> None:
    shown = structs.replace(board(*EVERYONE.rows[:2]), parts=parts("source", "web", "wiki"))
    assert render_triple_parts(shown, "source", width=100) == _PARTS
    narrow = render_triple_parts(shown, "source", width=80)
    assert "web     acme/large-3.1  500  500  60.0 [56.0, 64.0]  80.0  50.0\n" in narrow
    assert render_triple_parts(shown, "domain") == "no judged triple here has a domain\n"


def test_a_part_of_few_triples_is_named() -> None:
    few = structs.replace(
        measured(ACME, 60, 80, 50), by="domain", value="plant",
        estimates={name: share(50, 29) for name in ("f1", "precision", "recall")},
    )  # fmt: skip
    shown = structs.replace(board(*EVERYONE.rows[:2]), parts=(few,))
    said = "groups with fewer than 30 triples of a direction (wide intervals): plant\n"
    assert render_triple_parts(shown, "domain").endswith(said)


def test_a_breakdown_that_is_none_is_refused_with_those_that_are() -> None:
    assert read_breakdowns(["domain", "family", "domain"]) == ("domain", "family")
    with pytest.raises(BadUsage, match="unknown breakdown of verified triples: position"):
        read_breakdowns(["domain", "position"])
