"""``build judged-questions``: a panel's failures, features by three judges, and their vote."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kina.kina_rows import combination, write_rows
from kina.scripted_jury import JUDGES, PANEL, Jury
from proofstone.judging.difficulty import MemberAnswer
from proofstone.methods.kina.jury.failures import ERROR_TYPES, difficulty_of, dominant_wrong
from serving import configure, serving
from told import Proofstone, Told

N = 6  # questions; each judge picks two
PICKS = {"judge-1": [0, 1], "judge-2": [1, 2], "judge-3": [0, 1]}


@dataclass
class Bench:
    proofstone: Proofstone
    folder: Path
    jury: Jury

    def __call__(self, *words: Any, rc: int = 0) -> Told:
        told = self.proofstone(*words, "-w", self.folder / "w")
        assert told.code == rc, told.err
        return told

    def build(self, *words: Any, rc: int = 0, judges: Sequence[str] = JUDGES) -> Told:
        return self(
            "build", "judged-questions", self.folder / "asked.jsonl", "--panel", ",".join(PANEL),
            "--judge", ",".join(judges), "--picks", 2, "--name", "judged", "--yes", *words, rc=rc,
        )  # fmt: skip

    def stems(self) -> list[str]:
        path = self.folder / "out.jsonl"
        self("export", "judged", "-o", path)
        lines = path.read_text(encoding="utf-8").splitlines()
        return sorted(json.loads(line)["stem"] for line in lines)

    def dropped(self, build: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for row in json.loads(self("show", build, "--dropped", "--json", "-n", 100).out):
            found.setdefault(row["reason"], []).append(row["found"])
        return found


@pytest.fixture
def bench(tmp_path: Path, proofstone: Proofstone) -> Iterator[Bench]:
    jury = Jury(picks=dict(PICKS), right={0: {"member-1"}, 1: {"member-1", "member-2"}})
    with serving(jury) as server:
        assert proofstone("init", tmp_path / "w").code == 0
        configure(tmp_path / "w", server.url)
        write_rows(tmp_path / "asked.jsonl", [combination(number) for number in range(N)])
        yield Bench(proofstone, tmp_path, jury)


def test_two_picks_of_three_admit_a_question(bench: Bench) -> None:
    bench.jury.levels = {"judge-1": "high", "judge-2": "low"}
    result = json.loads(bench.build("--json").out)
    assert bench.stems() == [combination(number)["stem"] for number in (0, 1)]
    dropped = bench.dropped(result["build"])["not selected"]
    assert len(dropped) == N - 2
    assert sum("1 of 3 judges" in each for each in dropped) == 1
    assert any("notable refusal: it overlaps" in each for each in dropped)
    assert bench.jury.asked == {"panel": 5 * N, "features": 3 * N, "failures": 3 * N, "vote": 3}
    judges = bench("show", result["build"], "--judges").out
    assert "features: knowledge coverage   high 6; unanimous 6 of 6" in judges
    assert "features: disciplinary uniqueness   tied 6" in judges
    assert "admission: selection" in judges
    assert "picked 2" in judges


def test_the_report_states_agreement_and_computes_failures(bench: Bench) -> None:
    bench.build()
    found = json.loads(bench("show", "judged", "--statistics", "--json").out)
    tables = {table["title"]: table["rows"] for table in found}
    (field,) = tables["Judged questions by field"]
    assert (field["judged"], field["admitted"], field["vote"]) == (N, 2, "vote")
    assert (field["hard"], field["very hard"], field["easy"]) == (2, 4, 0)
    assert tables["Errors of the panel"] == [{"type": "knowledge gap", "n": 5 * N - 3}]
    agreed = {row["matter"]: row for row in tables["Agreement of judges"]}
    # Picks: (1,0,1), (1,1,1), (0,1,0) and three times (0,0,0). 1 - (n - 1) / n_0 / n_1 times the
    # number of pairs that differ, each over 2: 18 values, 6 of them picks, 4 such pairs.
    assert agreed["selection"]["alpha"] == pytest.approx(1 - 17 * 4 / 2 / (6 * 12))
    kappa = agreed["selection"]["scripted/judge-1 / scripted/judge-3"]
    assert kappa == pytest.approx(1)
    assert agreed["knowledge coverage"]["alpha"] is None


def test_votes_show_computed_discrimination_in_orders_of_their_own(bench: Bench) -> None:
    bench.build()
    votes = [prompt for prompt in bench.jury.prompts if "Discrimination is" in prompt]
    assert len({tuple(_order(prompt)) for prompt in votes}) > 1
    # Question 0: member 1 has 1 of 5 others, member 2 too, three have none: 0.2 - 0.05.
    assert all("very hard, 0 of 5 models correct; discrimination: not defined" in v for v in votes)
    assert all("hard, 1 of 5 models correct; discrimination: +0.15" in vote for vote in votes)
    for vote in votes:
        common = Counter(re.findall(r"most common wrong answer: ([^;]*);", vote))
        assert common == {"C 4/5": 1, "C 3/5": 1, "C 5/5": N - 2}


def _order(prompt: str) -> list[str]:
    return [line for line in prompt.splitlines() if line.startswith("Q") and len(line) < 4]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"selected": 1}, "1 questions selected, expected exactly 2"),
        ({"id": "Q99"}, "unknown id: Q99"),
        ({"knowledge_point": "one law"}, "one knowledge point selected twice"),
        ({"refused": 0}, "0 questions refused, expected 2 to 4"),
        ({"prose": True}, "not the requested JSON"),
    ],
)
def test_a_broken_vote_is_asked_once_more_then_undecides_the_field(
    bench: Bench, change: dict[str, Any], problem: str
) -> None:
    entries = [{"id": f"Q{n}", "knowledge_point": f"law {n}", "reason": "it"} for n in (1, 2)]
    refused = [{"id": f"Q{n}", "reason": "it"} for n in (3, 4)]
    entries = entries[: change.get("selected", 2)]
    refused = refused[: change.get("refused", 2)]
    for entry in entries:
        entry["knowledge_point"] = change.get("knowledge_point", entry["knowledge_point"])
    entries[0]["id"] = change.get("id", entries[0]["id"])
    text = json.dumps({"selected": entries, "refused": refused})
    text = "I would take the first." if "prose" in change else text
    bench.jury.spoilt = lambda judge, kind, _again: (
        text if (judge, kind) == ("judge-2", "vote") else None
    )
    told = bench.build(rc=2)
    assert "6 field undecided" in told.err
    assert bench.jury.asked["vote"] == 4
    assert any(problem in prompt and "could not be used" in prompt for prompt in bench.jury.prompts)


def test_a_repeated_vote_counts(bench: Bench) -> None:
    bench.jury.spoilt = lambda judge, kind, again: (
        "Hm." if (judge, kind, again) == ("judge-2", "vote", 0) else None
    )
    bench.build()
    assert bench.jury.asked["vote"] == 4


def test_malformed_features_are_errors_and_no_votes(bench: Bench) -> None:
    bench.jury.spoilt = lambda judge, kind, _again: (
        '{"coverage": "very high"}' if (judge, kind) == ("judge-1", "features") else None
    )
    result = json.loads(bench.build("--json").out)
    judges = bench("show", result["build"], "--judges", "--json").out
    (account,) = [a for a in json.loads(judges) if a["question"] == "practical value"]
    assert {j["judge"]: (j["voted"], j["unparsed"]) for j in account["judges"]} == {
        "scripted/judge-1": (0, N), "scripted/judge-2": (N, 0), "scripted/judge-3": (N, 0),
    }  # fmt: skip


def test_one_usable_judge_is_not_enough(bench: Bench) -> None:
    bench.jury.spoilt = lambda judge, kind, _again: (
        "Hm." if judge != "judge-1" and kind == "features" else None
    )
    assert "6 fewer than two judges" in bench.build(rc=2).err


def test_a_field_with_no_more_than_are_picked_has_no_vote(bench: Bench) -> None:
    bench.build("--picks", N)
    assert bench.jury.asked["vote"] == 0
    assert len(bench.stems()) == N


def test_answers_of_the_screening_are_not_asked_again(bench: Bench) -> None:
    bench("build", "screened-questions", bench.folder / "asked.jsonl", "--panel", ",".join(PANEL),
          "--name", "screened", "--yes")  # fmt: skip
    n = bench.jury.asked["panel"]
    bench.build()
    assert bench.jury.asked["panel"] == n == 5 * N


def test_three_different_judges_are_needed(bench: Bench) -> None:
    told = bench.build(rc=2, judges=JUDGES[:2])
    assert "expected three different judges" in told.err
    assert "--picks must be 1 or more" in bench.build("--picks", 0, rc=2).err


def test_a_dry_run_asks_nothing(bench: Bench) -> None:
    bench.build("--dry-run")
    assert not bench.jury.asked


def answers(text: str) -> list[MemberAnswer]:
    """``D`` is correct, ``-`` no answer."""
    states = {"D": "right", "-": "unparsed"}
    return [
        MemberAnswer(
            member=str(n), state=states.get(sign, "wrong"), answer="" if sign == "-" else sign
        )  # type: ignore[arg-type]
        for n, sign in enumerate(text)
    ]


@pytest.mark.parametrize(
    ("given", "dominant", "difficulty"),
    [
        ("DDDDD", "", "easy"),
        ("DDDDB", "varied", "medium"),
        ("DDBB", "B 2/4", "medium"),
        ("DDBBC", "B 2/5", "hard"),
        ("DBBCC", "varied", "hard"),
        ("BBB-C", "B 3/5", "very hard"),
        ("-----", "", "very hard"),
    ],
)
def test_the_dominant_wrong_answer_is_counted(given: str, dominant: str, difficulty: str) -> None:
    assert dominant_wrong(answers(given)) == dominant
    assert difficulty_of(answers(given)) == difficulty


def test_there_are_seven_types_of_errors() -> None:
    assert len(ERROR_TYPES) == 7
