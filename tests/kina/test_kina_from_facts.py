"""From facts of bundled tables to a representative set with its certificate, by the commands."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from kina.fact_pool import CENTRAL, SIZE, FactPool, statement_row
from kina.kina_rows import write_rows
from proofstone.cli import main
from scripted_server import Act, Seen
from serving import configure, serving

pytestmark = pytest.mark.slow

_OF_A_FORM = ("number", "item_id", "item", "facts", "form", "kind")  # no columns of a bank
_PANEL = ",".join(f"sim/{tenths}?ability=0.{tenths}" for tenths in range(1, 6))
_DRAWS = 50


@dataclass
class Made:
    """The pool, the chosen ids and their tables, and the rows of the questions not chosen."""

    pool: FactPool
    chosen: dict[str, list[str]]
    tables: dict[str, list[dict[str, Any]]]
    refused: dict[str, dict[str, Any]]

    def drawn(self, discipline: str, seed: int) -> list[str]:
        """Return as many questions, at random."""
        ids = [row["id"] for row in self.pool.of(discipline)]
        return random.Random(seed).sample(ids, SIZE)

    def hardest(self, discipline: str, seed: int) -> list[str]:
        """Return as many questions that the panel gets wrong most often, ties at random."""
        rng = random.Random(seed)
        ids = [row["id"] for row in self.pool.of(discipline) if row["id"] in self.refused]
        return sorted(ids, key=lambda one: (-self.refused[one]["wrong"], rng.random()))[:SIZE]


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def pool_of_facts(run: Callable[..., str], folder: Path) -> FactPool:
    """Compose two forms of statements on the bundled tables, and import them as one pool."""
    run("build", "statements", "elements", "countries", "codes", "--languages", "en",
        "--name", "facts")  # fmt: skip
    run("export", "facts", "-o", folder / "facts.jsonl")
    rows = [statement_row(fact) for fact in read(folder / "facts.jsonl")]
    statements = write_rows(folder / "statements.jsonl", rows)
    run("import", statements, "--as", "bank", "--method", "kina")
    questions: dict[str, dict[str, Any]] = {}
    for seed in (1, 2):
        form = folder / f"form{seed}.jsonl"
        run("build", "form", "statements", "--statements", "6-7", "--combination", "2-4",
            "--seed", seed, "--name", form.stem)  # fmt: skip
        run("export", form.stem, "-o", form)
        for row in read(form):
            kept = {key: value for key, value in row.items() if key not in _OF_A_FORM}
            questions[row["id"]] = {**kept, "material": "the table of the source"}
    run("import", write_rows(folder / "pool.jsonl", questions.values()), "--as", "bank")
    run("export", "pool", "-o", folder / "exported.jsonl")
    return FactPool(read(folder / "exported.jsonl"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("facts")
    pools: list[FactPool] = []

    def run(*words: object) -> str:
        printed = io.StringIO()
        with pytest.raises(SystemExit) as left, contextlib.redirect_stdout(printed):
            main([*map(str, words), "-w", str(folder / "w")])
        assert left.value.code == 0, words
        return printed.getvalue()

    def reader(seen: Seen) -> Act:
        return pools[0].read(seen)

    with serving(reader) as server:
        run("init")
        configure(folder / "w", server.url)
        pools.append(pool_of_facts(run, folder))
        pools[0].write_experts_files(folder)
        run("build", "representative-set", "pool", "--prototype", folder / "prototype.toml",
            "--item-labels", folder / "items.csv", "--pair-labels", folder / "pairs.csv",
            "-m", "reader=scripted/reader", "--panel", _PANEL, "--resamples", 200,
            "--sensitivity", "no", "--name", "chosen", "--yes")  # fmt: skip
    run("export", "chosen", "-o", folder / "chosen.jsonl")
    chosen: dict[str, list[str]] = {discipline: [] for discipline in CENTRAL}
    for row in read(folder / "chosen.jsonl"):
        chosen[row["discipline"]].append(row["id"])
    (build,) = json.loads(run("list", "builds", "--json"))
    run("export", f"build:{build['id'][:8]}", "-o", folder / "refused.jsonl")
    refused = {}
    for row in read(folder / "refused.jsonl"):
        stated = tuple(row["candidate"]["question"]["statements"])
        refused[pools[0].by_statements[stated]["id"]] = row
    tables = {
        table["title"]: table["rows"]
        for table in json.loads(run("show", "chosen", "--statistics", "--json"))
    }
    return Made(pools[0], chosen, tables, refused)


def test_every_question_of_the_pool_is_chosen_or_has_a_reason(made: Made) -> None:
    assert len(made.pool.rows) > 2000
    assert {name: len(ids) for name, ids in made.chosen.items()} == dict.fromkeys(CENTRAL, SIZE)
    every = {each for ids in made.chosen.values() for each in ids}
    assert every.isdisjoint(made.refused)
    assert every | set(made.refused) == set(made.pool.by_id)
    assert all(row["build_reason"] for row in made.refused.values())


def test_the_set_is_near_the_best_by_its_certificate(made: Made) -> None:
    for row in made.tables["Certificate by discipline"]:
        gains = [
            each["gain"]
            for each in made.tables["Marginal gains"]
            if each["discipline"] == row["discipline"]
        ]
        assert len(gains) == SIZE
        assert sum(gains) == pytest.approx(row["value"])
        assert gains == sorted(gains, reverse=True)
        assert row["value"] <= row["upper_bound"] <= 1
        assert row["ratio"] == pytest.approx(100 * row["value"] / row["upper_bound"], abs=0.01)
        assert row["ratio"] > 95


def test_calibrators_know_more_than_the_rate_of_the_labels(made: Made) -> None:
    rows = made.tables["Reliability of the calibrators"]
    assert len(rows) == 3 * len(CENTRAL)
    assert all(row["brier"] < row["brier_by_rate"] for row in rows)


@pytest.mark.parametrize("discipline", CENTRAL)
def test_the_set_is_more_representative_than_others(made: Made, discipline: str) -> None:
    pool, chosen = made.pool, made.chosen[discipline]
    share = sum(not pool.is_central(row) for row in pool.of(discipline)) / len(pool.of(discipline))
    others = [made.drawn(discipline, seed) for seed in range(_DRAWS)]
    hardest = [made.hardest(discipline, seed) for seed in range(_DRAWS)]
    assert pool.peripheral(chosen) <= 1
    for rival in (others, hardest):
        assert mean(map(pool.peripheral, rival)) == pytest.approx(share * SIZE, rel=0.5)
        assert pool.topics(chosen) >= mean(map(pool.topics, rival))
    assert pool.copies(chosen) <= 1  # whether two are duplicates is estimated


def test_reasons_are_true(made: Made) -> None:
    """Weak alignment is found on most of the peripheral and few of the central questions."""
    weak = Counter(
        made.pool.is_central(made.pool.by_id[each])
        for each, row in made.refused.items()
        if row["build_reason"] == "weak alignment"
    )
    n_central = sum(map(made.pool.is_central, made.pool.rows))
    assert weak[False] / (len(made.pool.rows) - n_central) > 0.8
    assert weak[True] / n_central < 0.2
    for row in made.refused.values():
        if row["build_reason"] == "difficulty outside I":
            assert row["wrong"] < 0.6
