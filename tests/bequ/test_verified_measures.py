"""A judge of known errors: the exact precision, recall and F1 come out, and people's labels of a
few bring the truth back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from known_world import (
    N_KNOWN,
    N_SAID,
    KnownJudge,
    elicited_rows,
    gathered,
    is_covered,
    reference_rows,
    true_label,
)
from msgspec import structs

from proofstone.methods.bequ.records import Verdict, Verified, VerifySettings
from proofstone.methods.bequ.verification.measures import Counted, measure_all, measure_by
from proofstone.methods.bequ.verification.people import (
    Checked,
    PeopleSaid,
    checked_of,
    correct_by_people,
)
from proofstone.methods.bequ.verification.plan import Gathered, make_plan
from proofstone.methods.bequ.verification.verify import verify
from proofstone.records.calls import Judge
from proofstone.records.verdicts import JudgeQuestion, JudgeVote, PanelVerdict

N = 40


async def verified(held: Gathered, settings: VerifySettings, judge: Judge | None) -> list[Verified]:
    pages = verify(held, make_plan(held, settings), judge)
    return [each async for page in pages for each in page]


def counted(found: list[Verified]) -> Counted:
    made = Counted()
    for each in found:
        made.add(each)
    return made


def truth(each: Verified) -> str:
    if each.direction == "recall":
        return "entailment" if is_covered(each.subject, each.predicate) else "neutral"
    return true_label(each.subject, each.predicate, each.object)


async def test_a_judge_without_errors_gives_the_exact_figures() -> None:
    """Of ten triples of a town six are right, two wrong and two about nothing that is written;
    six of twelve facts are said. A rule settles the six, for they are said word by word."""
    judge = KnownJudge()
    with gathered(elicited_rows(N), reference_rows(N)) as held:
        found = await verified(held, VerifySettings(sample=0), judge)
        (made,) = measure_all(counted(found), held.groups)
    values = {name: each.value for name, each in made.estimates.items()}
    precision, recall = 6 / N_SAID, 6 / N_KNOWN
    assert values["precision"] == pytest.approx(precision)
    assert values["recall"] == pytest.approx(recall)
    assert values["f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert values["contradiction"] == values["neutral"] == pytest.approx(2 / 10)
    assert values["precision_decided"] == pytest.approx(6 / (6 + 2))
    assert made.counts["recall"] == {"entailment": 6 * N, "neutral": 6 * N}
    assert judge.asked == N_SAID * N + 6 * N
    assert made.estimates["f1"].resampled == "entities"
    rested = {each.verdict.passage.text for each in found if each.verdict.label == "entailment"}
    assert all(text.startswith("Town ") for text in rested)


async def test_recall_is_by_all_that_was_said_together_or_by_single_triples() -> None:
    """What no triple says alone is entailed by two of them: counted by default, as published, and
    not where a single triple has to cover it. A contradicted reference triple is kept as one."""
    rows = [
        {"model": "m", "subject": "T", "predicate": p, "object": o, "subject_name": "T"}
        for p, o in (("city", "X"), ("cityX", "in Y"), ("height", "3"))
    ]
    known = [
        {"entity": "T", "predicate": p, "object": o}
        for p, o in (("region", "Y"), ("height", "4"), ("founded", "1900"))
    ]
    asked: list[JudgeQuestion] = []

    async def judge(question: JudgeQuestion) -> PanelVerdict:
        asked.append(question)
        text = "\n".join(each.text for each in question.exhibits)
        fact = question.exhibits[1].text
        label = "not covered" if "covered" in question.names else "neutral"
        if "predicate: region" in fact and "T | city | X\nT | cityX | in Y" in text:
            label = "entailment"
        if "predicate: height" in fact and "contradiction" in question.names:
            label = "contradiction"
        judge_vote = JudgeVote(judge="j", state="voted", label=label)
        return PanelVerdict(state="decided", label=label, judge_votes=(judge_vote,))

    found = {}
    for recall in ("together", "single"):
        with gathered(rows, known) as held:
            settings = VerifySettings(sample=0, recall=recall)  # type: ignore[arg-type]
            said = await verified(held, settings, judge)
            found[recall] = measure_all(counted(said), held.groups)[0]
    three = {"entailment": 1, "contradiction": 1, "neutral": 1}
    assert found["together"].counts["recall"] == three
    assert found["together"].estimates["recall"].value == pytest.approx(1 / 3)
    assert found["together"].estimates["recall_contradiction"].value == pytest.approx(1 / 3)
    assert found["single"].counts["recall"] == {"not covered": 3}
    assert found["single"].estimates["recall"].value == 0.0
    assert "recall_contradiction" not in found["single"].estimates


async def test_people_bring_back_the_truth_that_a_judge_missed() -> None:
    """One verdict in four is wrong. What the judge says comes out exactly as it says it; corrected
    by 150 labels of either direction, the 95% intervals hold the truth in at least 21 of 24 samples
    (95% of 24 is 23; fewer than 21 would be one such series in 40)."""
    held_truth: Counter[str] = Counter()
    for seed in range(24):
        held_truth.update(await _recovered(seed))
    assert min(held_truth[name] for name in ("precision", "recall", "f1")) >= 21, held_truth


async def _recovered(seed: int) -> list[str]:
    """The figures of one sample whose interval holds the truth."""
    judge = KnownJudge(rate=0.25)
    with gathered(elicited_rows(N), reference_rows(N)) as held:
        settings = VerifySettings(sample=350, seed=seed)
        found = await verified(held, settings, judge)
        (made,) = measure_all(counted(found), held.groups)
        sides = {
            side: [each for each in found if each.direction == side]
            for side in ("precision", "recall")
        }
        for side, own in sides.items():
            said = sum(each.verdict.label == "entailment" for each in own)
            assert len(own) == 350
            assert made.estimates[side].value == pytest.approx(said / 350)
        (corrected,) = correct_by_people(
            labelled(found, {each.id for each in found if each.drawn <= 150}), held.groups
        )
    assert corrected.n_people == {"precision": 150, "recall": 150}
    assert corrected.agreement is not None
    assert 0.6 < corrected.agreement.value < 0.95
    wanted = {"precision": 6 / N_SAID, "recall": 6 / N_KNOWN}
    wanted["f1"] = 2 * wanted["precision"] * wanted["recall"] / sum(wanted.values())
    figures = corrected.figures()
    return [name for name, true in wanted.items() if figures[name].low < true < figures[name].high]


def labelled(found: list[Verified], chosen: set[str]) -> list[Checked]:
    """What people say of the chosen ones: the truth."""
    people = {
        each.id: PeopleSaid(truth(each), truth(each) == "entailment")
        for each in found
        if each.id in chosen
    }
    made = [checked_of(each, people) for each in found]
    return [each for each in made if each is not None]


async def test_what_is_not_parsed_or_has_no_reference_stays_in_the_denominator() -> None:
    """As published; beside it stands precision over what was judged."""
    rows = [*elicited_rows(2), {**elicited_rows(1)[0], "subject_name": "Nowhere"}]
    with gathered(rows, reference_rows(2)) as held:
        found = await verified(held, VerifySettings(sample=0), KnownJudge())
        bad = [unparsed(each) if each.predicate == "fact0" else each for each in found]
        (made,) = measure_all(counted(bad), held.groups)
        waiting = await verified(held, VerifySettings(sample=0), None)
        (unmade,) = measure_all(counted(waiting), held.groups)
    assert made.counts["precision"]["unparsed"] == 2
    assert made.counts["precision"]["no reference"] == 1
    right = made.counts["precision"]["entailment"]
    values = {name: each.value for name, each in made.estimates.items()}
    assert values["precision"] == pytest.approx(right / 21)
    assert values["precision_judged"] == pytest.approx(right / (21 - 2 - 1))
    assert values["unparsed"] == pytest.approx(2 / 21)
    # What waits is in no figure: all that a rule settles here has no reference.
    assert unmade.estimates["precision"].n == 1
    assert unmade.counts["precision"] == {"waiting": 20, "no reference": 1}


def unparsed(each: Verified) -> Verified:
    if each.direction == "recall" or each.verdict.basis == "no reference":
        return each
    return structs.replace(each, verdict=Verdict(label="", basis="unparsed"))


async def test_measures_by_domain_and_source_add_up() -> None:
    with gathered(elicited_rows(8), reference_rows(8)) as held:
        found = await verified(held, VerifySettings(sample=0), KnownJudge())
        every = counted(found)
        by_domain = list(measure_by(every, held.groups, held.entities, "domain"))
        by_source = list(measure_by(every, held.groups, held.entities, "source"))
    assert [part.value for part in by_domain] == ["A", "B"]
    assert sum(part.counts["precision"]["entailment"] for part in by_domain) == 6 * 8
    assert {part.value: n_known(part.counts) for part in by_source} == {
        "web": N_KNOWN // 2 * 8, "wiki": N_KNOWN // 2 * 8,
    }  # fmt: skip


def n_known(counts: Mapping[str, Mapping[str, Any]]) -> int:
    return sum(counts["recall"].values())


async def test_a_label_of_people_says_how_much_the_reference_leaves_out() -> None:
    """Of three triples that are true two are in the reference: its recall is 2/3."""
    checked = [
        Checked(direction="precision", group=0, entity=at, label=label, said=PeopleSaid("", true))
        for at, (label, true) in enumerate(
            [("entailment", True), ("entailment", True), ("neutral", True), ("neutral", False)]
        )
    ]
    # That a reference triple is true says nothing of what the reference lacks.
    checked += [structs.replace(each, direction="recall", label="neutral") for each in checked]
    with gathered(elicited_rows(1), reference_rows(1)) as held:
        (made,) = correct_by_people(checked, held.groups)
    assert made.corpus is not None
    assert made.corpus.value == pytest.approx(2 / 3)
    assert made.true_share is not None
    assert made.true_share.value == pytest.approx(3 / 4)
    assert made.precision is None


async def test_entities_that_are_alike_by_chance_make_no_figure_surer() -> None:
    """Of each entity one triple of two is right: no entity differs from another, and still the
    interval is that of so many triples."""
    said = [PeopleSaid("entailment", None), PeopleSaid("neutral", None)] * 30
    checked = [
        Checked(direction="precision", group=0, entity=at // 2, label=each.label, said=each)
        for at, each in enumerate(said)
    ]
    with gathered(elicited_rows(1), reference_rows(1)) as held:
        (made,) = correct_by_people(checked, held.groups)
    assert made.precision is not None
    found = made.precision.corrected
    assert (found.high - found.low) / 2 > 1.96 * (0.5 * 0.5 / 60) ** 0.5


def looked_at(drawn: Sequence[int], of: int) -> list[Checked]:
    """Of so many triples of precision those that people labelled, by their numbers; all right."""
    said = PeopleSaid("entailment", None)
    return [
        Checked(
            direction="precision", group=0, entity=n, label="entailment", drawn=n,
            said=said if n in drawn else None,
        )
        for n in range(1, of + 1)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("drawn", "scattered"),
    [
        (range(1, 21), ()),
        ([*range(1, 10), *range(11, 21)], ()),  # one passed over
        (range(2, 40, 2), ("precision",)),
        (range(21, 41), ("precision",)),
    ],
)
async def test_labels_that_are_not_on_the_first_drawn_are_told(
    drawn: Sequence[int], scattered: tuple[str, ...]
) -> None:
    """Which triples somebody chose to look at is no random share, whatever came of them."""
    with gathered(elicited_rows(1), reference_rows(1)) as held:
        (made,) = correct_by_people(looked_at(drawn, 40), held.groups)
    assert made.scattered == scattered
