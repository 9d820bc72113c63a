"""--budget as a person meets it: exit code 4, what was spent, and the line that goes on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from killing import kill_after, seen_at
from proofstone.api import Workspace, create_workspace
from proofstone.records.runs import usd
from proofstone.store.calls import Expense
from scripted_server import Act, Seen, answer, child_server, drop
from serving import configure, serving
from small_bank import write_lines
from told import Proofstone

QUESTIONS = 8
PRICE = 'price = { input = 2.0, output = 10.0, date = "2025-11-01", source = "https://e.x" }'


def test_reaching_it_ends_with_4_and_the_printed_line_goes_on(
    made: Path, proofstone: Proofstone
) -> None:
    with serving(answer(prompt_tokens=300, completion_tokens=20)) as server:
        configure(made, server.url, PRICE)
        run = ("run", "old-books", "-m", "scripted/one", "--max-tokens", 20, "-w", made)
        said = proofstone(*run, "--budget", "0.007USD")
        assert said.code == 4
        assert re.search(r"\d of 8 scored, incomplete  0\.00\d+ USD, [\d,]+ tokens\n", said.out)
        assert re.search(
            r"error\[PS-401\]: the budget of 0\.007 USD is reached: 0\.00\d+ USD spent, and another"
            r" call of scripted/one may cost 0\.00\d+ USD\n  finished work is stored; resume with "
            r"another --budget\n",
            said.err,
        )
        step = re.search(
            r"Fill in: proofstone (run --resume run:\w{8} --budget) AMOUNT\n", said.err
        )
        assert step is not None
        done = proofstone(*step[1].split(), "1USD", "-w", made)
        assert done.code == 0
        assert server.requests == QUESTIONS


def test_the_result_has_it_for_programs(made: Path, proofstone: Proofstone) -> None:
    with serving(answer(prompt_tokens=300, completion_tokens=20)) as server:
        configure(made, server.url, PRICE)
        run = ("run", "old-books", "-m", "scripted/one", "--max-tokens", 20, "-w", made)
        (result,) = proofstone(*run, "--budget", "5Mtok", "--json").json
    assert result["over_budget"] is False
    assert result["spent"]["calls"] == QUESTIONS
    assert result["spent"]["cost_usd"] == pytest.approx(QUESTIONS * (300 * 2 + 20 * 10) / 1e6)


@pytest.mark.parametrize("budget", ["20", "20EUR", "lots"])
def test_what_is_no_budget_is_refused(made: Path, proofstone: Proofstone, budget: str) -> None:
    said = proofstone("run", "old-books", "-m", "sim/ann", "--budget", budget, "-w", made)
    assert said.code == 2
    assert (
        f"invalid budget '{budget}'\n  help: expected an amount of money or tokens: 20USD"
        in said.err
    )


def test_a_model_without_a_price_is_refused_with_the_lines_to_add(
    made: Path, proofstone: Proofstone
) -> None:
    with serving(answer()) as server:
        configure(made, server.url)
        said = proofstone("run", "old-books", "-m", "scripted/one", "--budget", "1USD", "-w", made)
        assert server.requests == 0
    assert said.code == 2
    assert said.err.startswith(
        "error[PS-213]: a budget in money needs the price of scripted/one\n"
        "  help: add to proofstone.toml, in US dollars per million tokens from the provider's "
        "page:\n"
        '      [models."scripted/one"]\n      price = { input = INPUT, output = OUTPUT, date = "20'
    )


def test_status_says_what_was_spent_and_what_of_it_is_estimated(
    made: Path, proofstone: Proofstone
) -> None:
    """A connection broke once: its worst case is counted and marked, in the status, in the list of
    runs and on the leaderboard."""
    dropped: list[int] = []

    def dropping_one(_seen: Seen) -> Act:
        if dropped:
            return answer("Answer: A", prompt_tokens=300, completion_tokens=20)
        dropped.append(1)
        return drop()

    with serving(dropping_one) as server:
        configure(made, server.url, PRICE)
        run = ("run", "old-books", "-m", "scripted/one", "--max-tokens", 20, "-w", made)
        (result,) = proofstone(*run, "--json").json
    sure = QUESTIONS * (300 * 2 + 20 * 10) / 1e6
    worst = result["spent"]["estimated_usd"]
    assert 0 < worst < 0.01
    total = usd(sure + worst)
    tokens = f"{QUESTIONS * 320 + result['spent']['estimated_tokens']:,}"

    said = proofstone("status", "-w", made)
    line = next(line for line in said.out.splitlines() if line.startswith("spent"))
    shown = rf"spent       ask     {total} USD \(up to 0\.00\d+ of it estimated: 1 call without a "
    assert re.fullmatch(rf"{shown}count\), {tokens} tokens", line)
    report = proofstone("status", "-w", made, "--json").json
    assert report["spent"]["ask"]["cost_usd"] == pytest.approx(sure + worst)

    rows = proofstone("list", "run", "-w", made).out.splitlines()
    assert rows[0].split()[-1] == "USD"
    assert rows[1].endswith(f"~{total}")

    board = proofstone("leaderboard", "old-books", "-w", made).out
    assert re.search(r"model +n +accuracy +truncated +unparsed +USD\n", board)
    assert f"~{total}\n" in board
    assert "~ what endpoints did not count is estimated, on the safe side\n" in board


def test_a_second_command_says_what_the_run_took_in_all(made: Path, proofstone: Proofstone) -> None:
    with serving(answer(prompt_tokens=300, completion_tokens=20)) as server:
        configure(made, server.url, PRICE)
        run = ("run", "old-books", "-m", "scripted/one", "-w", made)
        first, second, third = (
            proofstone(*run, *more).out.partition("\n")[0] + "\n"
            for more in (("--limit", 3), (), ())
        )
    assert first.endswith(
        "3 of 3 scored, complete for its limit (ranked as the first 3 of 8 items)  "
        "0.00240 USD, 960 tokens\n"
    )
    assert second.endswith(
        "8 of 8 scored, complete  spent 0.00400 USD, 1,600 tokens; in all 0.00640 USD, "
        "2,560 tokens\n"
    )
    assert third.endswith(
        "8 of 8 scored, complete  spent nothing; in all 0.00640 USD, 2,560 tokens\n"
    )


@pytest.mark.parametrize(
    ("exposed", "text"),
    [
        (12_300_000_000, "up to 0.0123 USD may have been billed for up to 17 calls of an "
         "interrupted command (run:12345678), in flight or not stored yet"),
        (None, "up to 17 calls of an interrupted command (run:12345678) may have been billed, in "
         "flight or not stored yet; it had no budget, so what they cost is not bounded"),
    ],
)  # fmt: skip
def test_what_a_killed_command_may_have_cost_is_told_once_and_stays_in_the_status(
    made: Path, proofstone: Proofstone, exposed: int | None, text: str
) -> None:
    with create_workspace(made) as workspace:
        expense = Expense(
            owner="process 1 on elsewhere", runs="run:12345678", unit="USD", budget=10**12,
            started_at=1.0, exposed_calls=17, exposed=exposed,
        )  # fmt: skip
        workspace.store.expenses.begin(expense)
    run = ("run", "old-books", "-m", "sim/ann?ability=0.8", "-w", made)
    assert proofstone(*run).err.startswith(f"note: {text}; they are asked again\n")
    assert "may have been billed" not in proofstone(*run).err
    assert f"lost        {text}\n" in proofstone("status", "-w", made).out


def test_what_a_killed_command_may_have_cost_is_told_once_and_stays_as_it_was(
    made: Path, proofstone: Proofstone
) -> None:
    """Going on asks the lost calls again: their own price is in the run's figure, exactly; the
    bound of the lost ones grows by nothing and is in no sum."""
    cost = (300 * 2 + 20 * 10) / 1e6
    with create_workspace(made) as workspace:
        expenses = workspace.store.expenses
        key = expenses.begin(
            Expense(
                owner="process 0 on elsewhere", runs="run:2c1e0f3a", unit="USD", budget=10**12,
                started_at=0.0, exposed_calls=0, exposed=0,
            )
        )  # fmt: skip
        expenses.allow(key, 3, round(3 * cost * 10**12), now=0.0)
    bound = "up to 0.0024 USD may have been billed for up to 3 calls of an interrupted command"
    with serving(answer(prompt_tokens=300, completion_tokens=20)) as server:
        configure(made, server.url, PRICE)
        run = ("run", "old-books", "-m", "scripted/one", "--max-tokens", 20, "-w", made)
        first = proofstone(*run, "--limit", 5, "--budget", "1USD")
        assert first.err.count(bound) == 1
        rest = proofstone(*run, "--budget", "1USD")
        assert bound not in rest.err
        assert f"spent {usd(3 * cost)} USD, 960 tokens; in all {usd(8 * cost)} USD" in rest.out
    status = proofstone("status", "-w", made).out
    assert status.count(bound) == 1
    assert f"spent       ask     {usd(8 * cost)} USD, 2,560 tokens\n" in status


JUDGING = """
import sys
from pathlib import Path
from proofstone.api import open_workspace
with open_workspace(Path(sys.argv[1])) as workspace:
    print("judging", flush=True)
    workspace.score(sys.argv[2], judge="scripted/judge", max_connections=4)
"""


@pytest.mark.slow
def test_what_judges_may_have_cost_is_told_once_after_a_kill(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """By the command that goes on with the judging: no less than what was sent and is not stored;
    the next one says nothing of it."""
    asked = [{"id": f"q{n}", "question": f"Who found stone {n}?", "answer": f"Finder {n}"}
             for n in range(120)]  # fmt: skip
    with (
        child_server("--response", "Somebody else") as url,
        create_workspace(tmp_path / "w") as work,
    ):
        configure(work.folder, url, PRICE)
        form = work.import_form(
            write_lines(tmp_path / "asked.jsonl", asked), method="chinese_simpleqa"
        )
        (result,) = work.run(form, models="scripted/one")
        run = f"run:{result.planned.run.id.hex()}"
        before = seen_at(url)["requests"]
        stored = calls_of(work)
        kill_after(30, url, ["-c", JUDGING, work.folder, run])
        sent = seen_at(url)["requests"] - before
        lost = sent - (calls_of(work) - stored)
        seen_at(url, answer=10_000)
        command = ("grade", run, "--judge", "scripted/judge", "-w", work.folder)
        first, second = proofstone(*command), proofstone(*command)
        told = re.findall(
            r"note: up to (\d+) calls? of an interrupted command may have been", first.err
        )
        assert len(told) == 1, first.err
        assert int(told[0]) >= max(lost, 1)
        assert "may have been billed" not in second.err


def calls_of(workspace: Workspace) -> int:
    with workspace.store.database.reading() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM call").scalar_one())
