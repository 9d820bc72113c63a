"""Scores by document, and the document and page of each item, on a page and on a leaderboard."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proofstone.api import create_workspace, open_workspace
from proofstone.results.report import make_board, selection_of
from proofstone.results.request import BoardAsked
from proofstone.results.sections.evidence import table_for
from report.made_up import two_small
from small_bank import rows, write_lines
from told import Proofstone

MODELS = ["sim/ann?ability=0.8", "sim/bob"]
LONG = "A report on everything that was found when the old leaves were counted again, twice over"
# Of the statements by their numbers: two documents of one title, one of a long title, and none.
SOURCES: tuple[dict[str, str], ...] = (
    {"source": "Leaves", "source_sha256": "11" * 32},
    {"source": "Leaves", "source_sha256": "22" * 32},
    {"source": LONG},
    {},
)


def sourced() -> list[dict[str, Any]]:
    """The small bank; the statements of one book come from the sources in turn, each on a page, and
    of the other book two statements come from one of them."""
    made = []
    for row in rows():
        n = int(row["id"].split("-")[1])
        source = SOURCES[n % len(SOURCES)] if row["book"] == "Herbal" or n == 1 else {}
        made.append({**row, **source, **({"page": f"p{n}"} if source else {})})
    return made


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which two simulated models were asked a form of sixteen questions."""
    folder = tmp_path_factory.mktemp("documents")
    with create_workspace(folder / "work") as workspace:
        bank = workspace.import_bank(write_lines(folder / "old-books.jsonl", sourced()))
        workspace.run(workspace.build_form(bank, questions=16), models=MODELS)
    return folder / "work"


def expected(work: Path) -> tuple[Counter[str], dict[str, dict[str, set[str]]]]:
    """How many questions rest on each document, recounted from the facts of every question, and of
    each question its documents with their pages. Documents are named by their titles and ids."""
    n: Counter[str] = Counter()
    items: dict[str, dict[str, set[str]]] = {}
    with open_workspace(work) as workspace:
        store = workspace.store
        (form,) = store.lookup.every("form")
        for stored in store.items.page(form.id, -1, 99):
            found: dict[str, set[str]] = {}
            for fact in stored.loaded.facts:
                if fact.source is not None:
                    source = store.knowledge.sources([fact.source])[fact.source]
                    is_twin = source.title == "Leaves"
                    tail = f" (source:{source.id.hex()[:8]})" if is_twin else ""
                    found.setdefault(source.title + tail, set()).add(fact.page)
            n.update(list(found) or ["(not given)"])
            items[f"item:{stored.loaded.item.id.hex()[:8]}"] = found
    return n, items


def test_leaderboard_by_document_counts_an_item_in_each_of_its_documents(
    proofstone: Proofstone, worked: Path
) -> None:
    """Largest first; two documents of one title stay two; scores are recomputed from the export."""
    n, items = expected(worked)
    assert len([name for name in n if name.startswith("Leaves (source:")]) == 2
    assert sum(n.values()) > 16  # of the sixteen some rest on several
    assert n["(not given)"] > 0
    told = proofstone("leaderboard", "old-books", "-w", worked, "--json").json
    groups = told["standings"][0]["documents"]["groups"]
    assert {each["name"]: each["n"] for each in groups} == n
    named = [each["n"] for each in groups if each["name"] != "(not given)"]
    assert named == sorted(named, reverse=True)
    values = scores(worked)
    for each in groups:
        inside = [
            item for item, found in items.items() if each["name"] in (found or {"(not given)": ""})
        ]
        for place, row in enumerate(told["standings"][0]["ranked"]):
            mean = sum(values[row["name"], item] for item in inside) / len(inside)
            assert each["estimates"][place]["value"] == pytest.approx(mean)
    shown = proofstone("leaderboard", "old-books", "-w", worked, "--by", "document")
    assert shown.code == 0
    lines = shown.out.splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("document"))
    assert lines[head + 1].startswith(groups[0]["name"])


def test_means_by_document_are_made_where_they_are_shown(
    proofstone: Proofstone, worked: Path
) -> None:
    """Not for a plain leaderboard, which says all the same that there are documents."""
    with open_workspace(worked) as workspace:
        plain = workspace.leaderboard("old-books")
        asked = workspace.leaderboard("old-books", by_document=True)
    assert plain.has_documents
    assert plain.standings[0].documents is None
    assert asked.standings[0].documents is not None
    refused = proofstone("leaderboard", "old-books", "-w", worked, "--by", "author")
    assert "there is: answer key position, book, document, " in refused.err


def scores(work: Path) -> dict[tuple[str, str], float]:
    """The score of each model on each question."""
    with open_workspace(work) as workspace:
        table = workspace.score_table("old-books")
    return {
        (table.respondents[who].name, f"item:{table.items[unit].hex()[:8]}"): value
        for who, unit, value in zip(
            table.respondent.tolist(), table.unit.tolist(), table.value.tolist(), strict=True
        )
    }


def test_the_page_has_scores_by_document_and_names_those_of_each_question(
    proofstone: Proofstone, worked: Path, tmp_path: Path
) -> None:
    """In both languages; a question with documents names each with its pages."""
    n, items = expected(worked)
    for language, title, page_word, note in (
        ("en", "Scores by document", "page", "counts in each of them"),
        ("zh", "按文档的得分", "第 ", "在每个文档中各计一次"),
    ):
        page = tmp_path / f"{language}.html"
        told = proofstone(
            "report", "old-books", "-o", page, "-w", worked, "--ui-language", language,
            "--tables", "csv", "--tables-to", tmp_path / language,
        )  # fmt: skip
        assert told.code == 0, told.err
        text = page.read_text("utf-8")
        section = text.split(f">{title}</span>")[1].split("</section>")[0]
        assert note in section
        assert LONG in section
        with (tmp_path / language / "documents-1.csv").open(encoding="utf-8-sig") as file:
            row = next(csv.DictReader(file))
        assert {key[:-2]: int(row[key]) for key in row if key.endswith("_n")} == n
        found = re.search(r'id="held-items-1">(.*?)</script>', text)
        assert found is not None
        shown = {row[0]: row[3] for row in json.loads(found[1])}
        assert shown.keys() == items.keys()
        for item, documents in items.items():
            for name, pages in list(documents.items())[:1]:
                assert name in shown[item]
                assert not pages or page_word in shown[item]
                assert all(each in shown[item] for each in pages)


def test_the_work_list_names_the_documents_and_pages_of_items_and_statements(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    """Nine models that know everything flag all items; of an item every document is named, however
    many. A statement's document is that of the fact that its key means."""
    with create_workspace(tmp_path / "work") as workspace:
        bank = workspace.import_bank(write_lines(tmp_path / "old-books.jsonl", sourced()))
        (form,) = workspace.build_form(bank, questions=16)
        workspace.run(form, models=[f"sim/n{who}?ability=1" for who in range(9)])
        made = make_board(
            workspace.store, lambda: workspace.config, selection_of(workspace, [form]),
            BoardAsked(), family=str,
        )  # fmt: skip
        assert made.evidence.sheet is not None
        table = made.evidence.sheet.table
        facts = {
            f"fact:{fact.id.hex()[:8]}": fact
            for fact in workspace.store.knowledge.bank(bank.id).facts()
        }
    _n, items = expected(tmp_path / "work")
    target = tmp_path / "list.jsonl"
    assert (
        proofstone("audit", "old-books", "-w", tmp_path / "work", "--flagged-items", target).code
        == 0
    )
    listed = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    documents = {row["target"]: row["document"] for row in listed if row["kind"] == "item"}
    assert len(documents) == 16
    for item, shown in documents.items():
        found = items[item]
        assert (shown == "") == (not found)
        for name, pages in found.items():
            assert name in shown
            assert all(each in shown for each in pages)
    assert table.documents is not None
    named = [table.documents.of_key(name) for name in table.key_names.values()]
    for name, places in zip(table.key_names.values(), named, strict=True):
        assert [each.pages for each in places] == (
            [(facts[name].page,)] if facts[name].source else []
        )
    assert any(named)


def test_long_titles_are_hidden_from_the_public(
    proofstone: Proofstone, worked: Path, tmp_path: Path
) -> None:
    """As other names of more than 80 characters are; no question is listed."""
    page = tmp_path / "page.html"
    assert proofstone("report", "old-books", "-o", page, "-w", worked, "--audience", "public",
                      "--tables", "csv", "--tables-to", tmp_path / "t").code == 0  # fmt: skip
    text = page.read_text("utf-8")
    for each in (text, *(file.read_text("utf-8") for file in (tmp_path / "t").iterdir())):
        assert LONG not in each
    section = text.split(">Scores by document</span>")[1].split("</section>")[0]
    assert re.search(r"document \d", section)


def test_a_bank_without_sources_has_no_documents(proofstone: Proofstone, tmp_path: Path) -> None:
    """No section, and --by document says what there is."""
    with create_workspace(tmp_path / "work") as workspace:
        bank = workspace.import_bank(write_lines(tmp_path / "old-books.jsonl", rows()))
        workspace.run(workspace.build_form(bank, questions=6), models=MODELS)
    page = tmp_path / "page.html"
    assert proofstone("report", "old-books", "-o", page, "-w", tmp_path / "work").code == 0
    assert "Scores by document" not in page.read_text("utf-8")
    told = proofstone("leaderboard", "old-books", "-w", tmp_path / "work", "--by", "document")
    assert told.code == 2
    assert "no breakdown by 'document'" in told.err


def test_long_names_of_groups_by_a_column_are_hidden_too() -> None:
    """The public sees names of up to 80 characters; different ones stay different."""
    codes = np.arange(60, dtype=np.int32) % 3
    table = replace(
        two_small(), groups={"place": codes}, group_names={"place": ("a" * 81, "b" * 80, "c" * 81)}
    )
    assert table_for(table, "public").group_names == {"place": ("group 1", "b" * 80, "group 3")}
    assert table_for(table, "internal").group_names == table.group_names
