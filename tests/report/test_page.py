"""The results page: self-contained, safe with any text, readable by all, the answer first."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import msgspec
import pytest

from proofstone.page.section import tie_letters
from proofstone.records.runs import Usage
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.item_browser import ItemBrowser, ItemShown
from proofstone.results.page import _lanes, render_page
from proofstone.results.page_parts import (
    Asked,
    Control,
    FormShown,
    PageData,
    Provenance,
)
from proofstone.results.rankings import leaderboard
from report.made_up import MEASURES, Row, mixed, right_of, table_of, two_small

INVALIDATED = {"meta", "link", "br", "input", "img", "hr"}


class Outline(HTMLParser):
    """What a page holds: text, headings, ids, and whether each tag is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.headings: list[int] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in INVALIDATED:
            self.open.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page_of(table: ScoreTable, **more: object) -> PageData:
    provenance = Provenance(version="0.1.0", made_at="2026-11-21 02:30 UTC", runs=("2c1e", "9f00"))
    board = leaderboard(table, MEASURES, "accuracy")
    return PageData(title="Elements", board=board, provenance=provenance, **more)  # type: ignore[arg-type]


def full_page() -> PageData:
    """Every section, with hostile texts wherever a model or an item can put one."""
    hostile = "</pre><script>alert(1)</script>\x00\u202e & <b>"
    return page_of(
        mixed(),
        notes=("Partial: one respondent is still being asked.",),
        forms=(
            FormShown(
                name="elements", id="7f3a", n_items=40, seed=40, recipe=(("options", "4-8"),)
            ),
            FormShown(name="imported", id="00aa", n_items=2),
        ),
        asked=(
            Asked(
                label="lab/large direct",
                settings=(("temperature", "0"),),
                dropped=("seed",),
                reported_models=("large-2026",),
                fingerprints=("fp_1",),
                calls=40,
                usage=Usage(prompt=12_345, completion=678),
                cost_usd=0.5,
                mean_logprob=-0.25,
                median_latency_s=1.5,
                first_call="2026-11-20",
                last_call="2026-11-21",
            ),
            Asked(label="lab/bare direct"),
        ),
        controls=(
            Control(
                label="m", prompt="1 2 3", response=hostile, expected="4", is_as_expected=False
            ),
        ),
        items=ItemBrowser(
            models=("lab/large direct", hostile),
            level="discipline",
            items=(
                ItemShown(
                    name="question 7",
                    title=hostile,
                    group=hostile,
                    document=hostile,
                    key="B",
                    cells="rw",
                    answers="BA",
                    share=0.5,
                    discrimination=-0.25,
                    flags=("weak-beat-strong",),
                ),
                ItemShown(name="8", cells="u-"),
            ),
        ),
    )


def test_the_answer_comes_first() -> None:
    text = Outline(render_page(page_of(two_small()))).text
    answer = (
        "smollm2-135m cot has the highest score (18.3%, 3.3 points above smollm2-135m direct); "
        "1 model is statistically tied with it. Chance lies inside both intervals: these results "
        "do not show knowledge."
    )
    assert f"Leaderboard Methods Leaderboard {answer}" in text.replace(" By group", "").replace(
        " Data quality", ""
    )
    assert text.index(answer) < text.index("18.3 [10.6,")
    assert "chance 20.0" in text


def test_tags_nest_headings_descend_and_ids_are_unique() -> None:
    for data in (full_page(), page_of(two_small()), page_of(table_of([], [], n_units=0))):
        outline = Outline(render_page(data))
        assert outline.open == []
        assert outline.headings[0] == 1
        steps = zip(outline.headings, outline.headings[1:], strict=False)
        assert all(deeper <= level + 1 for level, deeper in steps)
        ids = [value for _tag, name, value in outline.attributes if name == "id"]
        assert len(ids) == len(set(ids))
        named = [value for _tag, name, value in outline.attributes if name == "aria-labelledby"]
        assert set(named) <= set(ids)


def test_nothing_is_fetched_and_only_the_pages_own_script_may_run() -> None:
    page = render_page(full_page())
    outline = Outline(page)
    assert not [a for a in outline.attributes if a[1] in {"src", "srcset", "action", "style"}]
    links = [value for _tag, name, value in outline.attributes if name == "href"]
    assert {link[:1] for link in links} == {"#"}
    assert "http:" not in page
    assert "https:" not in page
    assert "@import" not in page
    assert "url(" not in page
    policy = next(value for _t, n, value in outline.attributes if n == "content" and "src" in value)
    for kind in ("style", "script"):
        body = re.search(f'<{kind}(?: type="module")?>(.*?)</{kind}>', page, re.DOTALL)
        assert body is not None
        digest = base64.b64encode(hashlib.sha256(body.group(1).encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_hostile_texts_are_shown_and_do_nothing() -> None:
    page = render_page(full_page())
    scripts = re.findall(r"<script([^>]*)>", page)
    assert [each for each in scripts if "application/json" not in each] == [' type="module"']
    assert all("<" not in body for body in re.findall(r"json\" id[^>]*>(.*?)</script>", page))
    assert "\x00" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;⟨U+0000⟩⟨U+202E⟩ &amp; &lt;b&gt;" in page


def test_the_page_encodes_whatever_a_reply_holds() -> None:
    """A lone surrogate cannot be written as UTF-8: it is shown by its number."""
    browser = ItemBrowser(models=("m",), items=(ItemShown(name="1", title="\ud800", cells="r"),))
    page = render_page(page_of(two_small(), items=browser))
    assert page.encode("utf-8").count("⟨U+D800⟩".encode()) == 2, "its row, and the row's data"


def test_what_was_asked_and_where_it_came_from() -> None:
    text = Outline(render_page(full_page())).text
    for expected in (
        "2026-11-21 \u00b7 internal",
        "Partial: one respondent is still being asked.",
        "elements 40 40 options 4-8 7f3a",
        "imported \N{EM DASH} 2 00aa",
        "lab/large direct temperature 0; not accepted: seed large-2026 (fp_1) "
        "2026-11-20 to 2026-11-21",
        "lab/large direct 40 12,345 678 \N{EM DASH} 0.5000 -0.250 1.50",
        "question 7 B 50.0 -0.25 significant negative discrimination",
        "Runs 2c1e, 9f00",
        "failed not counted; asked again, and the run is incomplete until it succeeds",
        "lab/unlucky 30 10 1 37.5 62.5",
    ):
        assert expected in text


def test_a_page_for_the_public_shows_items_by_their_ids_alone() -> None:
    """Neither a question nor an answer or its key, in the table or in the data of the script."""
    data = msgspec.structs.replace(full_page(), audience="public")
    page = render_page(data)
    assert "alert(1)" not in page.split('id="items-held"')[1].split("</section>")[0]
    held = re.search(r'id="held-items-1">(.*?)</script>', page)
    assert held is not None
    first = msgspec.json.decode(held[1])[0]
    assert (first[0], first[1], first[4], first[6]) == ("question 7", "", "", "")
    assert first[5] == "rw"


def test_what_is_missing_says_why() -> None:
    outline = Outline(render_page(full_page()))
    titles = {value for tag, name, value in outline.attributes if (tag, name) == ("abbr", "title")}
    assert {
        "imported, not sampled",
        "not reported by the endpoint",
        "price unknown",
        "not requested or not reported",
        "no calls were made",
    } <= titles


def test_forms_of_one_recipe_say_it_once() -> None:
    forms = tuple(
        FormShown(name=name, id=name, n_items=2, seed=seed, recipe=(("options", "4-8"),))
        for seed, name in enumerate("ab")
    )
    text = Outline(render_page(page_of(two_small(), forms=forms))).text
    assert "test form seed items id a 0 2 a b 1 2 b Parameters of all forms: options 4-8." in text


def test_a_remedy_is_said_once_for_all_it_helps() -> None:
    text = Outline(render_page(page_of(two_small()))).text
    assert (
        "smollm2-135m cot: 11.7% unparsed (7 of 60), smollm2-135m direct: 3.3% unparsed (2 of 60). "
        "To try: read some (proofstone show RUN --outcome unparsed -n 5), or try another "
        "--prompt-method."
    ) in text


def test_simulated_respondents_stand_under_a_banner() -> None:
    text = Outline(render_page(full_page())).text
    banner = "Simulated: a program generated these responses; no model was called."
    among = "They are ranked only among themselves."
    board = text[text.index("Methods Leaderboard") :]
    assert board.index("lab/large") < board.index(f"{banner} {among}") < board.index("sim/guesser")
    alone = table_of([Respondent("sim/x", "direct", simulated=True)], right_of(9, 4, 0), n_units=9)
    text = Outline(render_page(page_of(alone))).text
    assert text.index(banner) < text.index("Leaderboard")
    assert among not in text


def test_ties_are_marked_by_letter_and_band() -> None:
    page = render_page(page_of(two_small()))
    assert page.count('<span class="lane lane-0">a</span>') == 2
    assert ".lane-0 { left: 0.0rem; }" in page


def test_overlapping_ties_stand_in_lanes_of_their_own() -> None:
    group = leaderboard(two_small(), MEASURES, "accuracy").standings[0]
    overlapping = msgspec.structs.replace(group, ties=((0, 2), (1, 3), (3, 4), (4, 6)))
    assert _lanes(overlapping) == (0, 1, 0, 1)
    assert [tie_letters(i) for i in (0, 25, 26, 51, 52, 701, 702)] == [
        "a",
        "z",
        "aa",
        "az",
        "ba",
        "zz",
        "aaa",
    ]


def test_every_number_says_what_it_is_of() -> None:
    outline = Outline(render_page(page_of(two_small())))
    titles = [value for tag, name, value in outline.attributes if (tag, name) == ("abbr", "title")]
    assert (
        "n = 60, effective number of independent items 60; 95% interval for the domain of this "
        "item bank; Wilson; resampled unit: items; the facts behind the items are unknown, so "
        "items were treated as independent"
    ) in titles
    assert "7 of 60 responses" in titles


def test_no_blanks_fill_up_the_brackets_of_intervals() -> None:
    """Ends of unlike widths are written as everywhere else; a break inside is not possible."""
    rows = right_of(60, 2, 0) + right_of(60, 40, 1)
    table = table_of([Respondent("a", ""), Respondent("b", "")], rows, n_units=60)
    page = render_page(page_of(table))
    assert ">3.3 [0.4,\u00a011.5]<" in page
    assert ">66.7 [54.1,\u00a077.3]<" in page
    assert "\u2007" not in page


def test_an_empty_board_says_what_to_do() -> None:
    text = Outline(render_page(page_of(table_of([], [], n_units=0)))).text
    assert "No scores yet." in text
    assert "Run the items first" in text


def test_only_incomplete_respondents() -> None:
    text = Outline(render_page(page_of(table_of([Respondent("m", "")], [], n_units=3)))).text
    assert "No model is ranked: 1 model is incomplete." in text


def test_samples_and_respondents_without_common_items_have_their_places() -> None:
    rows: list[Row] = [
        (i + 4 * r, r, k, "answered", float(i <= k))
        for r in (0, 1)
        for k in (0, 1)
        for i in range(4)
    ]
    table = table_of([Respondent("a", "x"), Respondent("b", "y")], rows, n_units=8, expected=[8, 8])
    text = Outline(render_page(page_of(table))).text
    assert "SD over samples" in text
    assert "These models share no item, so they are not ranked against each other." in text
    assert "rank tied" not in text


def test_the_same_data_make_the_same_page() -> None:
    assert render_page(full_page()) == render_page(full_page())


# ------------------------------------------------------------ contrast


def luminance(colour: str) -> float:
    """WCAG 2.2: relative luminance of #rrggbb."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("text", "ground"),
    [
        ("ink", "ground"),
        ("quiet", "ground"),
        ("accent", "ground"),
        ("warn", "ground"),
        ("ink", "band"),
    ],
)
@pytest.mark.parametrize("palette", ["light", "dark"])
def test_text_has_a_contrast_of_at_least_4_5(text: str, ground: str, palette: str) -> None:
    page = render_page(page_of(two_small()))
    light, dark = page.split("prefers-color-scheme: dark", 1)
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", light if palette == "light" else dark))
    lighter, darker = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_the_public_sees_no_question_and_no_reply() -> None:
    """Whatever the caller put in; control prompts, which are the program's own, stay."""
    data = full_page()
    inside = Outline(render_page(data)).text
    outside = Outline(render_page(msgspec.structs.replace(data, audience="public"))).text
    for text in ("alert(1)", "⟨U+202E⟩"):
        assert text in inside
        assert text not in outside
    assert "1 2 3" in outside
    assert "\u00b7 public" in outside
