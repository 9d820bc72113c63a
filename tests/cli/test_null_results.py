"""What an audit says of results that hold little: ties, one item, one model, no variance."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from told import Proofstone

# Scores by model number and item number, with the number of models and items.
Score = Callable[[int, int], int]
TABLES: dict[str, tuple[int, int, Score]] = {
    "equal": (2, 10, lambda _model, item: item % 2),
    "opposite": (2, 10, lambda model, item: (item + model) % 2),
    "all-wrong": (3, 10, lambda _model, _item: 0),
    "all-right": (3, 10, lambda _model, _item: 1),
    "constant": (2, 10, lambda model, _item: model),
    "one-model": (1, 30, lambda _model, item: item % 3),
    "one-item": (3, 1, lambda model, _item: min(model, 1)),
    "apart": (2, 200, lambda model, item: int(item % 4 > 2 - 2 * model)),
}


def audited(proofstone: Proofstone, folder: Path, name: str, *more: str) -> tuple[str, str]:
    """Return the summary and the page as one line of text each."""
    n_models, n_items, score = TABLES[name]
    path, page = folder / f"{name}.csv", folder / f"{name}.html"
    head = ",".join(["item", "discipline", *"abc"[:n_models]])
    rows = (
        ",".join([f"q{item}", ("law", "art")[item % 2], *(str(min(score(model, item), 1))
                  for model in range(n_models))])
        for item in range(n_items)
    )  # fmt: skip
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    told = proofstone("audit", path, "-o", page, *more).out
    return " ".join(told.split()), text_of(page.read_text(encoding="utf-8"))


def text_of(page: str) -> str:
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    attributes = re.findall(r'(?:title|aria-label)="([^"]*)"', page)
    plain = re.sub(
        r"</(?:bdi|strong|span|code|abbr)>|<(?:bdi|strong|span|code|abbr)\b[^>]*>", "", page
    )
    plain = re.sub(r"<[^>]*>", "\n", plain)
    return unescape("\n".join([plain, *attributes]))


@pytest.mark.parametrize("name", TABLES)
def test_no_number_claims_what_was_not_observed(
    proofstone: Proofstone, tmp_path: Path, name: str
) -> None:
    """No interval or detectable difference of width 0, no 0 of n, no unknown value."""
    told, page = audited(proofstone, tmp_path, name)
    both = told + page
    assert re.findall(r"(?<![\d.])(\d+\.\d) \[\1, \1\]", both) == []
    for odd in (
        "difference of 0.0 points",
        "nan",
        "0 of 3 pairs",
        "in 0 pairs",
        "1 items",
        "1 models ",
        "None%",
    ):
        assert odd not in both, odd


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("equal", "a and b have the same score (50.0%)."),
        ("equal", "The difference between the two is not statistically significant."),
        ("equal", "The difference of the median pair is the same on every item"),
        ("opposite", "These items cannot show a difference of any size between two models."),
        ("all-wrong", "a, b and c have the same score (0.0%)."),
        ("all-wrong", "None of the 3 pairs of models differs significantly (Holm-adjusted)."),
        ("all-right", "the stability of their order is undefined."),
        ("constant", "The difference of the median pair is the same on every item"),
        ("one-model", "It is the only ranked model."),
        ("one-item", "b and c share the highest score (100.0%); 1 other model is statistically"),
        ("apart", "the difference is statistically significant."),
    ],
)
def test_what_is_said_is_true_of_the_data(
    proofstone: Proofstone, tmp_path: Path, name: str, said: str
) -> None:
    assert said in audited(proofstone, tmp_path, name)[1]


def test_a_shared_lead_is_not_given_to_the_first_row(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    told, _page = audited(proofstone, tmp_path, "one-item")
    assert "has the highest score overall" not in told


def test_only_few_items_or_models_are_called_few(proofstone: Proofstone, tmp_path: Path) -> None:
    """Two models on 200 items differ significantly: that is not tentative."""
    _told, page = audited(proofstone, tmp_path, "apart")
    assert "tentative" not in page
    assert "200 items, 2 models. Below 100 items or 3 models" in page


_CHINESE = "[\u3400-\u4dbf\u4e00-\u9fff\uff05\uff08\uff09]"


@pytest.mark.parametrize("name", TABLES)
def test_chinese_pages_have_full_width_punctuation(
    proofstone: Proofstone, tmp_path: Path, name: str
) -> None:
    """No comma, colon, semicolon, stop or bracket of ASCII between two Chinese characters."""
    told, page = audited(proofstone, tmp_path, name, "--ui-language", "zh")
    half = rf"{_CHINESE}[ ]?[,:;.?!()][ ]?{_CHINESE}|[,:;(][ ]?{_CHINESE}|{_CHINESE}[ ]?[),:;(]"
    assert re.findall(half, told) == []
    assert re.findall(half, page) == []
