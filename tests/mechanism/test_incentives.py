"""``review incentives``: games by name and file, other values, pilots, pages, and bad input."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from proofstone.errors import BadUsage
from proofstone.mechanism.game_file import find_game, game_names, read_game, with_values
from proofstone.mechanism.study import study_game, study_page
from proofstone.wording.messages import speaking
from told import Proofstone

BONUS = Path(__file__).parents[2] / "docs" / "data" / "review-bonus.toml"
RATINGS = """
game = "ratings"
title = "A bonus for the higher rating"
bar = 0.65
bonus = 10
cost = 2
most = 0.3
levels = 4
quality = { distribution = "normal", mean = 0.6, sd = 0.15 }
low_error = { distribution = "normal", mean = 0, sd = 0.15 }
high_error = { distribution = "normal", mean = 0, sd = 0.05 }
"""


def write_pilot(path: Path, *, columns: tuple[str, ...] = ("effort", "cost")) -> Path:
    rng = np.random.default_rng(1)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["reviewer", "score", *columns])
        writer.writeheader()
        for who in range(40):
            works = who % 2
            for _ in range(3):
                row = {
                    "reviewer": f"r{who}",
                    "score": round(float(rng.normal(0.75 if works else 0.6, 0.1)), 4),
                    "effort": ("low", "high")[works],
                    "cost": round(float(rng.normal(5 + 4 * works, 1)), 3),
                    "pay": 10 * works,
                }
                writer.writerow({name: row[name] for name in writer.fieldnames})
    return path


def test_games_are_listed_and_each_can_be_read(proofstone: Proofstone) -> None:
    listed = json.loads(proofstone("review", "incentives", "--json").out)
    assert [each["game"] for each in listed] == game_names() != []
    for name in game_names():
        read_game(find_game(name))
    shown = proofstone("review", "incentives")
    assert all(each["title"] in shown.out for each in listed)


def test_the_finding_states_the_computed_gains(proofstone: Proofstone) -> None:
    told = proofstone("review", "incentives", BONUS, "--json")
    sections = {each["name"]: each for each in json.loads(told.out)["sections"]}
    rows = {row[0]: row[1] for row in sections["effort"]["tables"][0]["rows"]}
    low = rows["high effort wins against low effort"] - rows["low effort wins against low effort"]
    assert f"+{100 * low:.1f} points against low effort" in sections["effort"]["finding"]
    sufficient = sections["bonuses"]["tables"][0]["rows"][1][1]
    assert f"A bonus of {sufficient:.3g} USD ensures" in sections["bonuses"]["finding"]
    best = max(sections["bars"]["tables"][0]["rows"], key=lambda row: min(row[1], row[2]))
    assert f"largest at the bar {best[0]:.3g}" in sections["bars"]["finding"]


def test_values_can_be_set_and_unknown_ones_are_told(proofstone: Proofstone) -> None:
    told = proofstone(
        "review", "incentives", BONUS, "--set", "high.a=6", "--set", "high.b=4", "--json"
    )
    effort = json.loads(told.out)["sections"][0]
    assert "by 0.0 points against low effort" in effort["finding"]
    assert "not above 0" in effort["finding"]
    wrong = proofstone("review", "incentives", BONUS, "--set", "high.q=1", "--set", "bars=2")
    assert wrong.code == 2
    assert "'high.q', 'bars'" in wrong.err
    assert "high.a" in wrong.err
    first = with_values(find_game("elaipbench-roles"), {"cost.0": 3, "level_1": 50})
    assert (first["cost"][0], first["level_1"]) == (3, 50)
    assert find_game("elaipbench-roles")["level_1"] == 30


def test_a_pilot_comes_first_and_logs_are_not_identified(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    pilot = write_pilot(tmp_path / "pilot.csv")
    told = json.loads(proofstone("review", "incentives", BONUS, "--reviews", pilot, "--json").out)
    first = told["sections"][0]
    assert first["name"] == "pilot"
    assert re.search(r"Cost over gain: a bonus of [0-9.]+ \[[0-9.]+, [0-9.]+\]", first["finding"])
    assert len(first["tables"][1]["rows"]) == 9
    logs = write_pilot(tmp_path / "logs.csv", columns=())
    shown = proofstone("review", "incentives", BONUS, "--reviews", logs)
    assert "not identified; the pilot lacks assigned effort or pay" in shown.out
    paid = write_pilot(tmp_path / "paid.csv", columns=("pay",))
    assert (
        "pay was assigned, effort was not"
        in proofstone("review", "incentives", BONUS, "--reviews", paid).out
    )
    gains = write_pilot(tmp_path / "gains.csv", columns=("effort",))
    assert (
        "Without costs of reviews the bonus is not identified"
        in proofstone("review", "incentives", BONUS, "--reviews", gains).out
    )


def test_all_problems_of_a_pilot_are_told_at_once(tmp_path: Path, proofstone: Proofstone) -> None:
    path = tmp_path / "pilot.csv"
    path.write_text("reviewer,score,effort,pay\n,0.5,low,\nb,x,medium,-3\nc,,high,\n")
    told = proofstone("review", "incentives", BONUS, "--reviews", path)
    assert told.code == 2
    for part in ("line 2, field reviewer", "line 3, field score", "line 3, field effort",
                 "line 3, field pay", "line 4, field score"):  # fmt: skip
        assert part in told.err, part
    roles = proofstone("review", "incentives", "elaipbench-roles", "--reviews", path)
    assert "a pilot calibrates a tournament" in roles.err


def test_unknown_games_and_files_are_told(tmp_path: Path, proofstone: Proofstone) -> None:
    near = proofstone("review", "incentives", "elaipbench-role")
    assert "did you mean 'elaipbench-roles'?" in near.err
    assert "no such file" in proofstone("review", "incentives", tmp_path / "none.toml").err
    broken = tmp_path / "broken.toml"
    broken.write_text("game = ")
    assert "not a TOML file" in proofstone("review", "incentives", broken).err


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"game": "poker"}, "unknown kind of game"),
        ({"bonus": -1}, "bonus must be"),
        ({"rate": 1.0}, "rate must be"),
        ({"low": 3}, r"\[low\] with a distribution is missing"),
        ({"low": {"distribution": "beta", "a": -1, "b": 0}}, "a must be above 0, not -1; b must"),
        ({"cost": {"distribution": "empirical", "values": [1, 2]}}, "may not jump"),
        ({"bonus": "many"}, "bonus"),
        ({"prize": 3}, "prize"),
    ],
)
def test_wrong_values_of_a_tournament_are_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(BadUsage, match=said):
        read_game({**find_game(str(BONUS)), **changes})


def test_wrong_values_of_roles_are_refused() -> None:
    tables = dict(find_game("elaipbench-roles"))
    with pytest.raises(BadUsage, match="unknown values: levels"):
        read_game({**tables, "levels": 3})
    sweep = {"x": "in_time", "x_range": [0.0, 1.0], "y": "late", "y_range": [0.0, 0.5]}
    with pytest.raises(BadUsage, match="in_time"):
        read_game({**tables, "sweeps": [sweep]})
    with pytest.raises(BadUsage, match="cannot vary"):
        read_game({**tables, "sweeps": [{**sweep, "x": "kindness"}]})


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_of_all_games_hold_their_findings(tmp_path: Path, language: str) -> None:
    ratings = tmp_path / "ratings.toml"
    ratings.write_text(RATINGS)
    pilot = write_pilot(tmp_path / "pilot.csv")
    with speaking(language):  # type: ignore[arg-type]
        for name, given in ((str(BONUS), pilot), (str(ratings), None), ("elaipbench-roles", None)):
            study = study_game(name, {}, pilot=given, seed=1)
            page = study_page(study, now="2026-01-01 00:00 UTC", command="proofstone")
            assert page == study_page(study, now="2026-01-01 00:00 UTC", command="proofstone")
            for section in study.sections:
                assert section.title in page
            if language == "zh":
                untold = [each for each in study.sections if not re.search("[一-鿿]", each.finding)]
                assert untold == []


def test_the_page_is_written(tmp_path: Path, proofstone: Proofstone) -> None:
    page = tmp_path / "pay.html"
    told = proofstone("review", "incentives", "elaipbench-roles", "-o", page)
    assert told.code == 0
    assert "careful" in page.read_text("utf-8")


def test_sentences_say_whether_care_is_an_equilibrium(proofstone: Proofstone) -> None:
    usual = proofstone("review", "incentives", "elaipbench-roles").out
    assert "is the only equilibrium in pure strategies" in usual
    dear = proofstone("review", "incentives", "elaipbench-roles", "--set", "cost.2=40").out
    assert "Careful work of all three roles is not an equilibrium." in dear
    assert "answer verifier: careless" in dear
    cheap = proofstone(
        "review", "incentives", "elaipbench-roles", "--set", "accuracy=0.75", "--json"
    )
    assert "is one of 2 equilibria" in json.loads(cheap.out)["sections"][0]["finding"]


def test_several_and_unequal_equilibria_are_told(proofstone: Proofstone) -> None:
    high = ("--set", 'cost={"distribution":"constant","value":3}')
    told = proofstone("review", "incentives", BONUS, *high, "--json")
    rates = json.loads(told.out)["sections"][1]
    assert "1 equilibrium in which reviewers differ." in rates["finding"]
    assert rates["tables"][0]["rows"][0][:3] == [0.0, 1.0, "yes"]
    assert len(rates["tables"][0]["rows"]) == 2
