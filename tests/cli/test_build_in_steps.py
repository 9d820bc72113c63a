"""``build KIND`` in steps, as people type it: funnel, dropped rows, dry run, budget, exit codes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proofstone.api import create_workspace, open_workspace
from proofstone.records.ids import short
from scripted_server import Act, Seen, answer, error
from serving import PATIENCE_S, configure, serving, wait_until
from told import Proofstone

PRICE = 'price = { input = 2.0, output = 10.0, date = "2025-11-01", source = "https://e.x" }'
ROLES = ("-m", "scripted/one", "--judge", "scripted/two")
SIMULATED = ("-m", "sim/ann?ability=1", "--judge", "sim/bob?ability=1")


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, with the method from outside on the path."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "outside"))
    create_workspace(tmp_path / "work").close()
    return tmp_path / "work"


@pytest.fixture
def told(at: Path, proofstone: Proofstone) -> Proofstone:
    """Commands in this workspace."""
    return lambda *arguments: proofstone(*arguments, "-w", at)


def checking(seen: Seen) -> Act:
    """Writes, and refutes what is about a multiple of seven; longer replies for larger numbers."""
    prompt = seen.json["messages"][0]["content"]
    n = int(re.findall(r"about (\d+)", prompt)[0])
    if prompt.startswith("Is this about"):
        return answer("No." if n % 7 == 0 else "Yes.", completion_tokens=1 + n % 3)
    return answer("What is it?", completion_tokens=5 + n % 20)


FUNNEL = """\
              entered  dropped  passed  kept
choose             30        3   90.0%    27
  round                      3
write              27                     54
check              54           100.0%    54
  refuted                    0
alike              54       27   50.0%    27
  same words                27
left                                      27
"""


def test_a_build_prints_its_funnel_and_its_bank(at: Path, told: Proofstone) -> None:
    """Every reason stands in it, and behind it what to do next."""
    made = told("build", "drills", "30", *SIMULATED, "--name", "d")
    with open_workspace(at) as workspace:
        ((_key, build),) = workspace.store.builds.every()
        (bank,) = workspace.store.lookup.every("bank")
    assert made.code == 0
    shown = f"d-{short(bank.id, 4)}"
    assert made.out == f"{FUNNEL}bank   {shown}   27 drills   build:{short(build.id)}\n"
    assert f"dropped rows: proofstone show build:{short(build.id)} --dropped" in made.err
    assert f"Next: proofstone build form {shown} --seeds 3" in made.err


def test_every_dropped_row_is_listed_with_its_reason(at: Path, told: Proofstone) -> None:
    """By step, by reason, and as many as wanted; as JSON all of it."""
    told("build", "drills", "30", *SIMULATED, "--name", "d")
    with open_workspace(at) as workspace:
        ((_key, build),) = workspace.store.builds.every()
    name = f"build:{short(build.id)}"
    some = told("show", name, "--dropped", "--step", "choose", "-n", "2")
    assert some.err == (
        f"more follow: -n 20, or all of them in a file: proofstone export {name} -o FILE\n"
    )
    assert told("show", name, "--dropped", "--step", "choose", "-n", "3").err == ""
    assert re.sub(r"row \w{8}", "row ROW", some.out) == (
        "row ROW   choose: round\n  found   0\n  n   0\n\n"
        "row ROW   choose: round\n  found   10\n  n   10\n"
    )
    listed = told("show", name, "--dropped", "-n", "99", "--json").json
    assert len(listed) == 3 + 27
    assert {row["reason"] for row in listed} == {"round", "same words"}
    one = told("show", name, "--dropped", "--with-reason", "round", "-n", "99", "--json")
    assert len(one.json) == 3
    assert told("show", name, "--pending").err.strip() == "no such row"
    assert FUNNEL in told("show", name).out
    unknown = told("show", name, "--dropped", "--step", "sing")
    assert unknown.code == 2
    assert "it has: choose, write, check, alike" in unknown.err
    assert told("show", name, "--step", "check").code == 2
    file = at.parent / "dropped.jsonl"
    assert told("export", name, "-o", file).out.endswith("   30 rows\n")
    first = msgspec.json.decode(file.read_bytes().splitlines()[0])
    assert first == {
        "build_step": "choose", "build_reason": "round", "build_found": "0", "build_error": "",
        "n": 0,
    }  # fmt: skip
    assert told("show", "d", "--dropped").code == 2
    assert name in told("list", "build").out
    assert f"{name}  30 entered, 27 left" in told("show", "d").out


def test_a_failed_call_ends_with_3_and_says_where(at: Path, told: Proofstone) -> None:
    """No bank is made; the row is listed with the failure."""

    def failing(seen: Seen) -> Act:
        prompt = seen.json["messages"][0]["content"]
        body = {"error": {"message": "this model's maximum context length is 3", "code": "x"}}
        return error(400, body) if prompt.endswith(" 13.") else checking(seen)

    with serving(failing) as server:
        configure(at, server.url)
        made = told("build", "drills", "30", *ROLES, "--name", "d")
    assert made.code == 3
    assert "incomplete: no bank is made of it yet" in made.out
    assert "write: 1 row pending; calls failed: " in made.err
    assert "resume: run the same command again" in made.err
    name = re.findall(r"build:\w{8}", made.out)[0]
    assert "n   13" in told("show", name, "--pending").out


def test_a_budget_that_is_reached_ends_with_4(at: Path, told: Proofstone) -> None:
    """The next command goes on; together they asked each thing once."""
    with serving(checking) as server:
        configure(at, server.url, PRICE)
        ended = told("build", "drills", "40", *ROLES, "--name", "d", "--budget", "0.01USD")
        assert ended.code == 4
        assert "error[PS-401]: " in ended.err
        assert "with a further --budget" in ended.err
        whole = told("build", "drills", "40", *ROLES, "--name", "d", "--json")
        assert whole.code == 0
        assert whole.json["complete"]
        assert server.requests == 36 + 72
    with serving(lambda _seen: error(401, {"error": {"message": "no such key"}})) as server:
        configure(at, server.url)
        assert told("build", "drills", "90", *ROLES).code == 5


def dry(told: Proofstone, *options: str) -> Any:
    return told("build", "drills", "400", *ROLES, "--dry-run", "--pilot", 20, *options)


def test_a_dry_run_says_what_a_build_takes(at: Path, told: Proofstone) -> None:
    """From a pilot that is kept: the same dry run again asks nobody, and the whole lies within its
    ranges."""
    with serving(checking) as server:
        configure(at, server.url, PRICE)
        first = dry(told, "--json", "--budget", "1USD").json
        asked = server.requests
        again = dry(told, "--json").json
        assert server.requests == asked <= 3 * 20
        assert again["total"] == first["total"]
        text = dry(told, "--budget", "0.1USD")
        whole = told("build", "drills", "400", *ROLES, "--name", "d", "--json").json
        assert server.requests == 360 + 720  # the pilot's rows were not asked again
    assert first["reach"]["verdict"] == "covers"
    assert (first["pilot"], first["left"], first["left_out"]) == (20, 380, ["alike"])
    total, spent = first["total"], whole["spent"]
    assert total["cost_usd"]["low"] <= spent["cost_usd"] <= total["cost_usd"]["high"]
    assert total["requests"]["low"] <= spent["calls"] <= total["requests"]["high"]
    steps = {step["name"]: step for step in whole["funnel"]["steps"]}
    assert first["rows"]["low"] <= steps["check"]["kept"] <= first["rows"]["high"]
    assert text.code == 0
    assert "pilot    20 of 20 rows through, no API calls were made" in text.out
    assert "95% prediction intervals, for 380 of 400 rows that are left to do" in text.out
    assert "a sample says nothing of alike" in text.out
    assert "budget   0.1 USD falls short" in text.out
    assert dry(told).out.splitlines()[-1] == "every row is through: nothing is left to do"


def test_prompts_are_shown_without_asking(at: Path, told: Proofstone) -> None:
    """Of the first rows that are asked about; what depends on a reply once that is in the cache."""
    with serving(checking) as server:
        configure(at, server.url)
        shown = told("build", "drills", "30", *ROLES, "--show", "1")
        assert server.requests == 0
        assert re.sub(r"row \w{8}", "row ROW", shown.out) == (
            "=== write: write   row ROW   to scripted/one\n"
            '--- settings of scripted/one: {"max_tokens":32,"temperature":0.0}\n'
            "--- user\nAsk two things about 1.\n\n"
        )
        told("build", "drills", "30", *ROLES)
        asked = server.requests
        shown = told("build", "drills", "30", *ROLES, "--show", "2", "--json")
        assert server.requests == asked
    assert [prompt["step"] for prompt in shown.json["prompts"]] == ["write"] * 2 + ["check"] * 4


def test_options_that_cannot_be_are_refused(at: Path, told: Proofstone) -> None:
    """With what to type instead."""
    pilot = told("build", "drills", "30", *SIMULATED, "--pilot", "5")
    assert pilot.code == 2
    assert "--pilot goes with --dry-run" in pilot.err
    two = told("build", "drills", "30", "-m", "sim/a,sim/b", "--judge", "sim/c")
    assert "name the role of each of several models, as ROLE=sim/a" in two.err
    none = told("build", "drills", "30")
    assert none.code == 2
    assert "no model is named for writer: writes the questions; checker: checks them" in none.err
    named = ("-m", "writer=sim/a?ability=1", "-m", "checker=sim/b?ability=1")
    assert told("build", "drills", "30", *named).code == 0


@pytest.mark.skipif(
    sys.platform == "win32", reason="a console's Ctrl-C reaches the whole process group"
)
def test_ctrl_c_ends_with_130_and_the_same_command_goes_on(at: Path, told: Proofstone) -> None:
    """What was in flight is waited for, and nothing is asked twice."""
    outside = str(Path(__file__).parents[1] / "outside")
    path = os.pathsep.join(filter(None, [outside, os.environ.get("PYTHONPATH", "")]))
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as a shell's background job has it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with serving(lambda seen: checking(seen).later(0.05)) as server:
        configure(at, server.url)
        command = [sys.executable, "-m", "proofstone", "build", "drills", "400", *ROLES]
        with subprocess.Popen(
            [*command, "--name", "d", "-w", str(at), "--max-connections", "2"],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            wait_until(lambda: server.requests >= 20)
            process.send_signal(signal.SIGINT)
            _out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert "stopping: waiting for" in err
        whole = told("build", "drills", "400", *ROLES, "--name", "d", "--json")
        assert whole.json["complete"]
        assert server.requests == 360 + 720
