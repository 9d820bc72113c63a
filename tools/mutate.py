"""Mutation testing: change the code in small ways and check that a test fails (`make mutate`).

A mutant is one changed operator, number, boolean or bound in one of the areas below. The tests that
run its line are run on it, and it survives if none fails. Mutants are sampled with a seed, so
survivors are reproducible: `python -m tools.mutate --seed 1 --mutants 400`. Each survivor is a
missing test or an equivalent change, which docs/mutants.md then documents.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

from tools.resolved import ROOT

# An area: the files to change, and the tests to run.
AREAS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "scoring": (
        ("choices/*.py", "run/scorings.py", "methods/*/score.py"),
        ("tests/choices", "tests/encyclo_k", "tests/stages/test_resume.py",
         "tests/chinese_simpleqa/test_short_scores.py", "tests/bequ/test_entity_scores.py"),
    ),
    "stats": (("stats/*.py",), ("tests/stats",)),
    "resume": (
        ("run/loop.py", "run/pilot.py", "store/writer.py"),
        ("tests/stages/test_resume.py", "tests/stages/test_faults.py", "tests/store/test_store.py",
         "tests/stages/test_dry_runs.py", "tests/stages/test_dry_run_budgets.py"),
    ),
    "budget": (
        ("models/budget.py",
         "models/budget.py", "models/budget.py", "session/askers.py"),
        ("tests/models/test_budget.py", "tests/models/test_spending.py",
         "tests/models/test_dearest_price.py", "tests/models/test_request_hash.py",
         "tests/models/test_reply.py", "tests/models/test_recorded_replies.py",
         "tests/stages/test_budgeted_runs.py"),
    ),
    "purge": (
        ("keep/purge.py", "store/purge.py", "store/payloads.py"),
        ("tests/workspace", "tests/stages/test_fitting.py"),
    ),
    "egress": (
        ("models/names.py", "models/egress.py", "models/http_session.py",
         "models/connections.py", "models/credentials.py", "session/egress.py",
         "session/permits.py"),
        ("tests/models/test_egress_policy.py", "tests/models/test_route.py",
         "tests/models/test_outside_names.py", "tests/models/test_secret.py",
         "tests/outside/test_web_searching.py", "tests/cli/test_egress.py"),
    ),
}  # fmt: skip
_MOST_TESTS = 60  # per line, in the order of recording
_TIMEOUT_S = 180
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}  # fmt: skip
_CALLED = {"max": "min", "min": "max", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """The ``place``-th change of a file: its line, and the expression before and after."""

    area: str
    file: Path
    place: int
    line: int
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        where = self.file.relative_to(ROOT).as_posix()
        return f"{self.area:<8} {where}:{self.line}  {self.before}  ->  {self.after}"


def count_of(file: Path) -> int:
    """Return the number of mutants of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return sum(1 for node in _nodes(tree) for _change in _changes(node))


def mutant_of(area: str, file: Path, place: int) -> Mutant:
    """Return the mutant of a file at a place from 0, in the order of its tree."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    changes = ((node, change) for node in _nodes(tree) for change in _changes(node))
    node, change = next(islice(changes, place, None))
    before = ast.unparse(node)
    change()
    return Mutant(area, file, place, node.lineno, before, ast.unparse(node), ast.unparse(tree))


def _nodes(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the expressions of functions; constants of a module are data."""
    for part in ast.walk(tree):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in part.body:
                if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    continue  # walked by itself
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    continue  # a docstring
                yield from (node for node in ast.walk(statement) if isinstance(node, ast.expr))


def _changes(node: ast.expr) -> Iterator[Callable[[], None]]:
    """Yield the possible changes of an expression, as functions that make them in place."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        yield lambda: node.ops.__setitem__(0, _COMPARED[type(node.ops[0])]())
    elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        if not (_is_text(node.left) or _is_text(node.right)):
            yield lambda: setattr(node, "op", _COMPUTED[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield lambda: setattr(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield lambda: setattr(node, "value", not value)
        elif isinstance(value, int | float):
            yield lambda: setattr(node, "value", value + 1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        called = _CALLED.get(node.func.id)
        if called is not None:
            yield lambda: setattr(node, "func", ast.Name(called, ast.Load()))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def drawn(n: int, seed: int, areas: Sequence[str]) -> list[Mutant]:
    """Return ``n`` mutants sampled with ``seed``, evenly over areas."""
    rng = random.Random(seed)
    chosen: list[Mutant] = []
    for place, area in enumerate(areas):
        files = [
            file
            for pattern in AREAS[area][0]
            for file in sorted((ROOT / "src" / "proofstone").glob(pattern))
            if file.name != "__init__.py"
        ]
        found = [(file, at) for file in files for at in range(count_of(file))]
        share = n // len(areas) + (place < n % len(areas))
        places = rng.sample(found, min(share, len(found)))
        chosen += [mutant_of(area, file, at) for file, at in places]
    return chosen


def tests_by_line(area: str, folder: Path) -> dict[tuple[str, int], list[str]]:
    """Return the tests that run each line of an area's files, measured by one run of its tests."""
    import coverage  # noqa: PLC0415 - of the dev extra

    data = folder / f"{area}.coverage"
    command = [
        sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider",
        "--cov=proofstone", "--cov-context=test", "--cov-report=", *AREAS[area][1],
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(data)}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        sys.exit(f"the tests of {area} fail as they are:\n{done.stdout[-3000:]}")
    measured = coverage.CoverageData(str(data))
    measured.read()
    found: dict[tuple[str, int], list[str]] = {}
    for file in measured.measured_files():
        for line, contexts in measured.contexts_by_lineno(file).items():
            names = dict.fromkeys(each.partition("|")[0] for each in contexts if each)
            found[file, line] = list(names)
    return found


def survives(mutant: Mutant, tests: Sequence[str], copy: Path) -> bool:
    """Return True if all ``tests`` pass on a copy of the sources with this change."""
    file = copy / mutant.file.relative_to(ROOT)
    before = file.read_text(encoding="utf-8")
    file.write_text(mutant.text, encoding="utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow", "-p",
                   "no:cacheprovider", *tests[:_MOST_TESTS]]  # fmt: skip
        environment = {
            **os.environ,
            "PYTHONPATH": str(copy / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, check=False, timeout=_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return False
    finally:
        file.write_text(before, encoding="utf-8")
    return done.returncode == 0


def main() -> int:
    """Print each survivor and the share of killed mutants; always return 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mutants", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--area", action="append", choices=list(AREAS))
    asked = parser.parse_args()
    areas = asked.area or list(AREAS)
    mutants = drawn(asked.mutants, asked.seed, areas)
    with tempfile.TemporaryDirectory(prefix="proofstone-mutants-") as name:
        folder = Path(name)
        covered = {area: tests_by_line(area, folder) for area in areas}
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(asked.workers):
            copy = folder / str(number)
            for part in ("src", "tests", "tools", "docs"):
                ignore = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / part, copy / part, ignore=ignore)
            for file in ("pyproject.toml", "README.md"):
                shutil.copy(ROOT / file, copy / file)
            copies.put(copy)

        def tried(mutant: Mutant) -> tuple[Mutant, str]:
            tests = covered[mutant.area].get((str(mutant.file), mutant.line), [])
            if not tests:
                return mutant, "no test of its area runs this line"
            copy = copies.get()
            try:
                return mutant, "survived" if survives(mutant, tests, copy) else ""
            finally:
                copies.put(copy)

        n_found: dict[str, int] = dict.fromkeys(areas, 0)
        n_all: dict[str, int] = dict.fromkeys(areas, 0)
        with ThreadPoolExecutor(asked.workers) as pool:
            for mutant, said in pool.map(tried, mutants):
                n_all[mutant.area] += 1
                n_found[mutant.area] += not said
                if said:
                    print(f"{mutant}   ({said})", flush=True)
    for area in areas:
        print(f"{area:<8} {n_found[area]} of {n_all[area]} found")
    print(f"all      {sum(n_found.values())} of {sum(n_all.values())} found (seed {asked.seed})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
