"""The pages that are tried in a browser: what commands make, and states that few readers meet."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from msgspec import structs

from proofstone.api import create_workspace
from proofstone.cli import main
from proofstone.methods.bequ.records import EntityFacts
from proofstone.methods.bequ.report.findings import answer_of, findings_of
from proofstone.methods.bequ.report.held import hold
from proofstone.methods.bequ.report.page import TriplePage, render_triple_page
from proofstone.methods.bequ.report.sections import triple_sections
from proofstone.records.models import Card
from proofstone.records.scores import Respondent
from proofstone.results.page import render_page
from proofstone.results.page_parts import PageData, Provenance
from proofstone.results.rankings import leaderboard
from proofstone.wording.messages import speaking
from report.made_up import MEASURES, right_of, table_of
from report.made_up_triples import HOSTILE, Skill, board_of, entity_facts, runs_of
from report.test_page import full_page, page_of
from small_bank import write_bank

__all__ = ["N_ENTITIES", "N_MODELS", "N_STRATA", "PAGES", "Page", "make_page", "run_command"]

N_MODELS, N_STRATA, N_ITEMS = 60, 30, 150
N_ENTITIES = 70
Page = Callable[[str], Path]
_KINA = Path(__file__).parents[2] / "docs" / "data" / "kina-table-3.csv"
_CARDS = (
    Card(lab="Acme", kind="chat", openness="closed", total_parameters_b=400),
    Card(lab="Acme", kind="reasoning", openness="closed", total_parameters_b=30),
    Card(lab="Zeta", kind="chat", openness="open weights", total_parameters_b=2),
)


def make_page(name: str, folder: Path) -> Path:
    """The page ``name`` of ``PAGES`` as a file."""
    path = folder / f"{name}.html"
    PAGES[name](path)
    return path


def _wide(path: Path) -> None:
    """``audit`` of a table of 60 models with long and Chinese names and of 30 strata, in clusters,
    with a few scores missing and a wrong answer key: all sections that such a table gives."""
    draw = np.random.default_rng(1)
    skill, ease = draw.normal(size=N_MODELS), draw.normal(size=N_ITEMS)
    chance = 1 / (1 + np.exp(-(skill + ease[:, None])))
    right = draw.random(chance.shape) < chance
    right[11] = skill < 0  # the weak are right there, the strong wrong
    table = path.with_suffix(".csv")
    with table.open("w", newline="", encoding="utf-8") as opened:
        lines = csv.writer(opened)
        lines.writerow(["item", "discipline", "book", *map(_model, range(N_MODELS))])
        for item, row in enumerate(right):
            cells = ["" if item == 7 and who < 3 else int(it) for who, it in enumerate(row)]
            lines.writerow([f"q{item}", _discipline(item % N_STRATA), f"book {item // 4}", *cells])
    run_command("audit", table, "-o", path)


def _model(place: int) -> str:
    if place % 5 == 0:
        return f"实验室/通义千问大模型第{place}号"
    return f"lab-{place % 7}/A-Very-Long-Model-Name-Number-{place:02d}-Instruct-2507-preview"


def _discipline(place: int) -> str:
    return f"学科 {place} of a rather long name, as they have" if place % 3 else f"D{place}"


def _accuracies(path: Path) -> None:
    """``audit`` of a published leaderboard of accuracies alone."""
    run_command("audit", _KINA, "-o", path)


def _report(path: Path) -> None:
    """``report`` of simulated models that were asked in two ways."""
    with create_workspace(path.with_suffix("")) as workspace:
        forms = workspace.build_form(workspace.import_bank(write_bank(path.parent)), questions=12)
        models = ["sim/ann?ability=0.8", "sim/bob?miss=0.5", "sim/cyd?ability=0.3"]
        workspace.run(forms, models=models, prompt_method=["direct", "cot"])
        workspace.report("old-books", path=path, group_by="kind", card_columns=("openness", "lab"))


def _partial(path: Path) -> None:
    """An unfinished run with hostile texts, of which hardly anything is known."""
    path.write_text(render_page(full_page()), encoding="utf-8")


def _cards(path: Path) -> None:
    """Twelve models in groups by what their cards say, with more of it in columns."""
    rows = [row for who in range(12) for row in right_of(20, 19 - who, who)]
    models = [Respondent(f"m{who}", "direct", card=_CARDS[who % 3]) for who in range(12)]
    table = table_of(models, rows, n_units=20)
    board = leaderboard(table, MEASURES, "accuracy", group_by="kind")
    made = Provenance(version="0.1.0", made_at="2026-11-21 02:30 UTC")
    columns = ("lab", "openness", "parameters")
    data = PageData(title="Cards", board=board, provenance=made, card_columns=columns)
    path.write_text(render_page(data), encoding="utf-8")


def _chinese(path: Path) -> None:
    """The same in Chinese."""
    with speaking("zh"):
        _cards(path)


def _triples(path: Path, *, most_in_page: int = 10_000_000) -> None:
    """Verified triples of four models with long, Chinese and hostile names, some of them in RTL
    scripts; what the page holds stands in it."""
    cards = (_CARDS[0], _CARDS[2], None, None)
    skills = [
        Skill(
            model=name, right=(0.8 - 0.1 * place, 0.4), nonexistent_given=9 - 3 * place, card=card
        )
        for place, (name, card) in enumerate(zip(_TRIPLE_MODELS, cards, strict=True))
    ]
    runs = runs_of(skills, n=N_ENTITIES, each=2, entities=_named_entities())
    board = board_of(skills, runs)
    sections = triple_sections(board)
    page = TriplePage(
        title="random",
        board=board,
        provenance=Provenance(version="0.1.0", made_at="2026-11-21 02:30 UTC", runs=("run:2c1e",)),
        answers=answer_of(board),
        findings=findings_of(board),
        sections=sections,
        analyses=tuple(
            structs.replace(part, name=f"study-{place}", figures=(), tables=part.tables[:1])
            for place, part in enumerate(sections[1:3])
        ),
        held=hold(runs, path, most_in_page=most_in_page),
    )
    path.write_text(render_triple_page(page), encoding="utf-8")


_TRIPLE_MODELS = (
    "acme/big",
    "实验室/通义千问大模型",
    "lab-3/A-Very-Long-Model-Name-Number-03-Instruct-2507-preview",
    f"hostile {HOSTILE}",
)


def _named_entities() -> list[EntityFacts]:
    """As made up, but for a few names: RTL, Chinese, hostile."""
    found = list(entity_facts(N_ENTITIES))
    for place, name in enumerate(("مكة المكرمة", "北京", HOSTILE)):
        found[place] = structs.replace(found[place], name=name)
    return found


def _triples_beside(path: Path) -> None:
    """The same with its rows in a folder beside it."""
    _triples(path, most_in_page=0)


def _empty(path: Path) -> None:
    """A page before anything was scored."""
    path.write_text(render_page(page_of(table_of([], [], n_units=0))), encoding="utf-8")


def run_command(*arguments: object) -> None:
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as left:
        if left.code:
            raise


PAGES: Mapping[str, Callable[[Path], None]] = {
    "wide": _wide,
    "accuracies": _accuracies,
    "report": _report,
    "partial": _partial,
    "cards": _cards,
    "chinese": _chinese,
    "empty": _empty,
    "triples": _triples,
    "triples-beside": _triples_beside,
}
