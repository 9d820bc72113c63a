"""Mutants: every small change of a function once, and none of what is no code."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.mutate import AREAS, count_of, drawn, mutant_of
from tools.resolved import ROOT

CODE = '''
LIMIT = 7  # a constant of a module is data

def bound(price: float, more: float, *, is_dear: bool = False) -> float:
    """A docstring with 3 numbers."""
    if price > more and not is_dear:
        return max(price, more) + 1
    return price * more
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "code.py"
    path.write_text(CODE)
    return path


def test_each_change_is_made_once(file: Path) -> None:
    made = [mutant_of("stats", file, place) for place in range(count_of(file))]
    changes = {(mutant.before, mutant.after) for mutant in made}
    assert changes == {
        ("price > more and (not is_dear)", "price > more or not is_dear"),
        ("price > more", "price >= more"),
        ("max(price, more) + 1", "max(price, more) - 1"),
        ("max(price, more)", "min(price, more)"),
        ("1", "2"),
        ("price * more", "price / more"),
    }
    assert len(made) == len(changes)
    for mutant in made:
        assert "LIMIT = 7" in mutant.text
        compile(mutant.text, "mutant", "exec")


def test_a_seed_draws_the_same_mutants_of_every_area() -> None:
    once, again = drawn(12, 5, list(AREAS)), drawn(12, 5, list(AREAS))
    assert once == again
    assert {mutant.area for mutant in once} == set(AREAS)
    assert drawn(12, 6, list(AREAS)) != once


def test_every_area_names_files_and_tests_that_are_there() -> None:
    for patterns, tests in AREAS.values():
        for pattern in patterns:
            assert list((ROOT / "src" / "proofstone").glob(pattern)), pattern
        assert all((ROOT / test).exists() for test in tests)
