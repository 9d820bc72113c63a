"""The length of pages at 1280x800 before a fold is opened, and where their answer starts."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from browser.pages import Page, run_command
from browser.tab import Tab
from proofstone.api import create_workspace
from small_bank import write_bank

SCREENS = "document.documentElement.scrollHeight / 800"
HEADINGS = """[...document.querySelectorAll("h1, h2, h3, h4")]
  .filter((each) => each.checkVisibility()).map((each) => each.textContent.trim())"""
BOARD_TOP = "document.querySelector('.wide.board').getBoundingClientRect().top + scrollY"


@pytest.fixture
def ten(tmp_path: Path) -> Path:
    """Audit of 10 models on 400 items."""
    draw = np.random.default_rng(1)
    skill, ease = np.arange(10) * 0.15, draw.normal(size=400)
    right = draw.random((400, 10)) < 1 / (1 + np.exp(-(skill + ease[:, None])))
    table, path = tmp_path / "ten.csv", tmp_path / "ten.html"
    with table.open("w", newline="", encoding="utf-8") as opened:
        lines = csv.writer(opened)
        lines.writerow(["item", *(f"model {who}" for who in range(10))])
        lines.writerows([f"q{item}", *map(int, row)] for item, row in enumerate(right))
    run_command("audit", table, "-o", path)
    return path


def test_an_audit_of_ten_models_takes_four_screens(tab: Tab, ten: Path) -> None:
    """The leaderboard starts in the upper half of the first."""
    tab.open(ten)
    assert tab.read(SCREENS) <= 4
    assert tab.read(BOARD_TOP) <= 400
    assert len(tab.read(HEADINGS)) <= 12


def test_published_accuracies_take_four_screens(tab: Tab, page: Page) -> None:
    tab.open(page("accuracies"))
    assert tab.read(SCREENS) <= 4
    assert tab.read(BOARD_TOP) <= 400
    assert len(tab.read(HEADINGS)) <= 12


@pytest.fixture
def likelihood(tmp_path: Path) -> Path:
    """Report of three models asked by option likelihood, as on the page of the demo."""
    path = tmp_path / "questions.html"
    with create_workspace(tmp_path / "work") as workspace:
        forms = workspace.build_form(workspace.import_bank(write_bank(tmp_path)), questions=12)
        models = ["sim/ann?ability=0.8", "sim/bob?ability=0.5", "sim/cyd?ability=0.3"]
        workspace.run(forms, models=models, prompt_method=["option-likelihood"])
        workspace.report("old-books", path=path)
    return path


def test_the_page_of_the_demo_takes_three_screens(tab: Tab, likelihood: Path) -> None:
    """Its one scale is named in one sentence before the leaderboard, and in no heading."""
    tab.open(likelihood)
    assert tab.read(SCREENS) <= 3
    assert tab.read(BOARD_TOP) <= 400
    headings = tab.read(HEADINGS)
    assert len(headings) <= 12
    assert not any("likelihood" in heading for heading in headings)
    said = tab.read("document.querySelector('#answer').innerText")
    assert said.count("no text is generated") == 1
