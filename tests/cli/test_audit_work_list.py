"""``proofstone audit --flagged-items FILE``: items to look at, and what to type."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from told import Proofstone


def test_the_work_list_is_written_beside_the_summary(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    """Ten models, of which the weakest five alone are right on q0: its key may be wrong."""
    results = tmp_path / "results.csv"
    lines = ["item," + ",".join(f"m{who}" for who in range(10))]
    for item in range(30):
        cells = [int(who < 5) if item == 0 else int(item < 3 * who) for who in range(10)]
        lines.append(f"q{item}," + ",".join(map(str, cells)))
    results.write_text("\n".join(lines) + "\n", encoding="utf-8")
    told = proofstone("audit", results, "--flagged-items", tmp_path / "work.csv")
    assert told.code == 0
    head, first, *others = (tmp_path / "work.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith(
        "place,target,document,reason,action,decision,why,changes,responses,kind,"
    )
    assert first.startswith(
        "1,q0,,negative discrimination: weak models beat strong ones (check the answer key),"
    )
    assert told.err.startswith(f"{tmp_path / 'work.csv'}   {len(others) + 1} flagged\n")
    listed = proofstone("audit", results, "--json").json["flagged_items"]
    assert next(row["target"] for row in listed) == "q0"


def test_a_work_list_of_our_own_runs_says_what_to_type(
    proofstone: Proofstone, made: Path, tmp_path: Path
) -> None:
    """Nine models that know nearly everything: `exclude` takes an item that all get right."""
    models = [word for who in range(9) for word in ("-m", f"sim/n{who}?ability=1")]
    form = proofstone("list", "form", "-w", made, "--json").json[0]["name"]
    assert proofstone("run", form, *models, "-w", made, "--yes").code == 0
    target = tmp_path / "work.jsonl"
    assert proofstone("audit", form, "-w", made, "--flagged-items", target).code == 0
    row = json.loads(target.read_text(encoding="utf-8").splitlines()[0])
    assert row["exclude"] == f'proofstone correct exclude {row["target"]} --reason "..."'
    _, *words = shlex.split(row["exclude"])
    assert proofstone(*words, "-w", made, "--actor", "ann").code == 0
