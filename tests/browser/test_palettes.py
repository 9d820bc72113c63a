"""Both palettes: text and marks stand out, dark and light differ, paper is light."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from browser.pages import Page
from browser.tab import Tab
from browser.test_layout import CONTRAST, OPEN_ALL

# The contrast with the ground of what is drawn: lines, dots, borders of controls, marks of figures.
MARKS = """(least) => {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (text) => {
    probe.clearRect(0, 0, 1, 1); probe.fillStyle = text; probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = light(rgb(getComputedStyle(document.body).backgroundColor));
  const ratio = (text) => {
    const [low, high] = [light(rgb(text)), ground].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const poor = [];
  const judge = (each, kind, colour) => {
    if (colour === "none" || ratio(colour) >= least) return;
    poor.push([kind, each.getAttribute("class") ?? each.tagName, colour]);
  };
  for (const each of document.querySelectorAll(".interval, .chance")) {
    judge(each, "stroke", getComputedStyle(each).stroke);
  }
  for (const each of document.querySelectorAll(".dot")) {
    judge(each, "fill", getComputedStyle(each).stroke);
  }
  for (const each of document.querySelectorAll("button, input, select")) {
    const style = getComputedStyle(each);
    const hasBorder = each.checkVisibility() && parseFloat(style.borderTopWidth);
    if (hasBorder) judge(each, "border", style.borderTopColor);
  }
  const series = ["#0072B2", "#D55E00", "#000000", "#CC79A7", "#009E73", "#767676"];
  for (const name of ["fill", "stroke"]) for (const colour of series) {
    const each = document.querySelector(`.drawn svg [${name}="${colour}"]`);
    if (each) judge(each, name, getComputedStyle(each)[name]);
  }
  return [...new Set(poor.map((each) => each.join(" ")))];
}"""


def show(tab: Tab, palette: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": palette}]
    tab.call("Emulation.setEmulatedMedia", features=features)


@pytest.mark.parametrize(
    ("palette", "name"),
    list(product(["light", "dark"], ["wide", "accuracies", "report", "partial", "triples"])),
)
def test_text_and_marks_stand_out_in_both_palettes(
    tab: Tab, page: Page, palette: str, name: str
) -> None:
    """Text at least 4.5:1 against what is behind it, marks and borders of controls at least 3:1."""
    tab.open(page(name))
    show(tab, palette)
    tab.read(OPEN_ALL)
    assert tab.read(f"({CONTRAST})(4.5)") == []
    assert tab.read(f"({MARKS})(3)") == []


@pytest.mark.parametrize("name", ["accuracies", "report", "triples"])
def test_dark_and_light_pages_differ_and_paper_is_light(tab: Tab, page: Page, name: str) -> None:
    tab.open(page(name))
    show(tab, "light")
    light = tab.picture()
    ground = "getComputedStyle(document.body).backgroundColor"
    assert tab.read(ground) == "rgb(255, 255, 255)"
    show(tab, "dark")
    assert tab.picture() != light
    red, green, blue = map(int, tab.read(ground).removeprefix("rgb(").rstrip(")").split(","))
    assert max(red, green, blue) < 48
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    tab.call("Emulation.setEmulatedMedia", media="print", features=features)
    assert tab.read(ground) == "rgb(255, 255, 255)"


def test_styles_beside_the_page_are_of_the_same_palette(tab: Tab, page: Page) -> None:
    """Pages of responses too."""
    path = page("report")
    responses = path.with_name(f"{path.stem}_files") / "responses-1.html"
    assert Path(responses).exists()
    tab.open(responses)
    for palette in ("light", "dark"):
        show(tab, palette)
        assert tab.read(f"({CONTRAST})(4.5)") == []
