"""One name for each outcome on every page, and one number for each fact in all outputs."""

from __future__ import annotations

import csv
import html
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from browser.pages import PAGES, make_page, run_command
from proofstone.page.section import shown_estimate
from proofstone.records.runs import OUTCOMES, Estimate
from proofstone.results.item_browser import STATES
from proofstone.stats.ranks import RankInterval
from proofstone.wording.messages import Language, speaking, word

OTHER_NAMES = {
    "en": r"unread(able)?|cut off|miss|missed|misses|unanswered|no verdict|partly right|"
    r"gave no answer|no parsable answer|fail to parse",
    "zh": r"读不出|未能解析|无法读取|截短|切断|截掉|未作答|答对一部分|部分答对|没有回答",
}
NAMES = {"bob?miss=0.5"}  # a simulated model


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the files of a page by its name and language: itself, and those beside it."""

    @cache
    def made(name: str, language: Language) -> list[Path]:
        folder = tmp_path_factory.mktemp(f"{name}-{language}")
        with speaking(language):
            make_page(name, folder)
        return sorted(folder.rglob("*.html"))

    return made


def shown_on(page: Path) -> str:
    """Return what readers may see of a page: texts and tooltips, without data of questions."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"(?s)<(style|pre)\b.*?</\1>", " ", text)
    text = re.sub(r"(?s)<script>.*?</script>", " ", text)
    text = re.sub(
        r'(?s)<script type="application/json" id="(items-json|held).*?</script>', " ", text
    )
    for name in NAMES:
        text = text.replace(name, " ")
    return html.unescape(re.sub(r"<(?!/?(abbr|svg|text)\b)[^>]*>", "\n", text))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", [name for name in PAGES if name != "chinese"])
def test_outcomes_have_one_name_each_on_every_page(
    pages: Any, name: str, language: Language
) -> None:
    files = pages(name, language)
    assert files
    for file in files:
        pattern = re.compile(rf"(?i)(?<![\w?])(?:{OTHER_NAMES[language]})(?!\w)")
        found = [line for line in shown_on(file).splitlines() if pattern.search(line)]
        assert found == [], file.name


def test_item_pages_are_among_them(pages: Any) -> None:
    names = {file.name for name in PAGES for file in pages(name, "en")}
    assert "responses-1.html" in names


def test_no_two_outcomes_share_a_name() -> None:
    """Outcomes, and the states of answers, which name the same things by the same words."""
    names = {*OUTCOMES, "no answer", *(name for _symbol, name in STATES.values())}
    with speaking("zh"):
        chinese = {name: word(name) for name in names}
    assert len(set(chinese.values())) == len(names)
    assert not any(re.fullmatch(OTHER_NAMES["zh"], said) for said in chinese.values())
    assert {"refused", "unparsed", "truncated"} <= {name for _symbol, name in STATES.values()}


# The same numbers on terminal, page and as JSON.


def _table(folder: Path) -> Path:
    """Four models on 60 items, two of them tied, and one of which lacks three."""
    path = folder / "results.csv"
    with path.open("w", newline="", encoding="utf-8") as opened:
        lines = csv.writer(opened)
        lines.writerow(["item", "strong", "even", "odd", "partial"])
        for item in range(60):
            partial = "" if item > 56 else int(item % 5 == 0)
            lines.writerow([f"q{item}", int(item % 10 < 9), item % 2, 1 - item % 2, partial])
    return path


def _rows_of_page(page: Path) -> list[tuple[str, ...]]:
    """Return rank range, model and score of each row of the leaderboard."""
    text = page.read_text(encoding="utf-8")
    board = text[text.index('class="wide board"') :]
    board = board[: board.index("</table>")]
    rows = []
    for row in re.findall(r"(?s)<tr>(.*?)</tr>", board):
        cells = [re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", cell))).strip()
                 for cell in re.findall(r"(?s)<t[dh][^>]*>(.*?)</t[dh]>", row)]  # fmt: skip
        score = next((cell for cell in cells if re.fullmatch(r"[\d.]+ \[.*\]", cell)), None)
        if score is not None:
            name = re.search(r'<th scope="row">(.*?)</th>', row)
            assert name
            rows.append((cells[0], name[1], score))
    return rows


def _of_json(row: dict[str, Any]) -> tuple[str, ...]:
    estimate = Estimate(**{key: row["estimate"][key] for key in ("value", "n", "low", "high")})
    rank = RankInterval(**row["rank"])
    ranks = f"{rank.low}-{rank.high}" if rank.low != rank.high else f"{rank.low}"
    return ranks, row["name"], shown_estimate(estimate)


@pytest.mark.parametrize("source", ["items", "accuracies"])
def test_terminal_page_and_json_have_the_same_numbers(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ranks, scores, intervals and numbers of items; and the number of significant pairs."""
    published = Path(__file__).parents[2] / "docs" / "data" / "kina-table-3.csv"
    table = _table(tmp_path) if source == "items" else published
    page = tmp_path / "page.html"
    run_command("audit", table, "-o", page)
    terminal = capsys.readouterr().out
    run_command("audit", table, "--json")
    told = json.loads(capsys.readouterr().out)
    (group,) = told["board"]["standings"]
    expected = [_of_json(row) for row in group["ranked"]]
    assert len(expected) == (4 if source == "items" else 42)
    assert _rows_of_page(page) == expected
    lines = [re.split(r"\s{2,}", line.strip()) for line in terminal.splitlines()]
    on_terminal = {line[1]: line for line in lines if len(line) >= 4}
    for (ranks, name, score), row in zip(expected, group["ranked"], strict=True):
        assert on_terminal[name][:4] == [ranks, name, str(row["estimate"]["n"]), score]
    pairs = next(each for each in told["sections"] if each["name"] == "pairs")
    counts = re.match(r"\d+ of \d+ pairs", pairs["finding"])
    assert counts
    assert counts[0] in terminal
    assert counts[0] in page.read_text(encoding="utf-8")
