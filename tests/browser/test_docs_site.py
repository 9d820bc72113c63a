"""The documents as a site: every page is there, links work, nothing comes from outside."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tools import docs_site
from tools.doc_pages import pages, relinked
from tools.resolved import ROOT

from browser.tab import Tab

# What the theme's script takes as a reason to load something: diagrams, galleries, code, GitHub.
WANTING = re.compile(r'class="[^"]*\b(mermaid|glightbox|pyodide)\b|data-md-component="source"')


class Links(HTMLParser):
    """What a page loads, what it links to, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors.add(given.get("id", ""))
        self.loaded += [
            given[name] for name in ("src", "srcset", "data", "poster") if name in given
        ]
        if "href" in given:
            rel = given.get("rel", "").split()
            is_loaded = tag == "link" and not {"canonical", "next", "prev", "alternate"} & set(rel)
            (self.loaded if is_loaded else self.linked).append(given["href"])


def is_outside(address: str) -> bool:
    return bool(urlsplit(address).netloc) or urlsplit(address).scheme in ("http", "https")


def outside_in_style(text: str) -> list[str]:
    found = re.findall(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)", text)
    return [address for address in chain.from_iterable(found) if is_outside(address)]


def test_what_comes_from_outside_is_noticed() -> None:
    """The checks themselves, on addresses of each kind."""
    found = Links(
        '<script src="https://a.org/x.js"></script><link rel="stylesheet" href="//b.org/y.css">'
        '<link rel="preconnect" href="https://c.org"><img src="d.png"><a href="https://e.org">e</a>'
    )
    assert [each for each in found.loaded if is_outside(each)] == [
        "https://a.org/x.js", "//b.org/y.css", "https://c.org",
    ]  # fmt: skip
    assert outside_in_style('a{src:url("https://f.org/g.woff2")} b{background:url(data:x)}') == [
        "https://f.org/g.woff2"
    ]
    assert WANTING.search('<pre class="mermaid">')


def test_every_page_has_a_place_in_the_navigation() -> None:
    placed = docs_site.places()
    assert len(set(placed.values())) == len(placed) == len(pages())
    named = [place for _, places in docs_site.navigation(placed) for place in places]
    assert sorted(named) == sorted([*placed.values(), docs_site.DECISIONS])


def test_links_are_changed_outside_code_and_dropped_without_a_page() -> None:
    page = 'See [a `b`](x.md#c), [two\nlines](y.md "t"), `[no](x.md)`.\n\n```sh\n[no](x.md)\n```\n'
    assert relinked(page, {"x.md#c": "z.md"}.get) == (
        "See [a `b`](z.md), two\nlines, `[no](x.md)`.\n\n```sh\n[no](x.md)\n```\n"
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("zensical") is None:
        pytest.skip("the extra [docs] is not installed")
    return docs_site.build(tmp_path_factory.mktemp("docs"))


def read(site: Path) -> Iterator[tuple[Path, str]]:
    for page in sorted(site.rglob("*.html")):
        yield page, page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_site_has_every_page_and_a_search(site: Path) -> None:
    places = [*docs_site.places().values(), docs_site.DECISIONS]
    absent = [place for place in places if not (site / place).with_suffix(".html").is_file()]
    assert absent == []
    assert "methods/bequ.html" in (site / "search.json").read_text(encoding="utf-8")
    assert json.loads((site / "search.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_site_loads_nothing_from_outside(site: Path) -> None:
    """Scripts, styles, fonts and pictures are files of the site."""
    for page, text in read(site):
        found = Links(text)
        assert [each for each in found.loaded if is_outside(each)] == [], page
        assert outside_in_style(text) == [], page
        assert WANTING.search(text) is None, page
    for style in site.rglob("*.css"):
        assert outside_in_style(style.read_text(encoding="utf-8")) == [], style


@pytest.mark.slow
def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    """Each file that a page loads or links to exists, and so does the anchor."""
    anchors = {page.resolve(): Links(text).anchors for page, text in read(site)}
    broken = []
    for page, text in read(site):
        if page.name == "404.html":
            continue  # its links begin at the root of a server
        found = Links(text)
        for address in [*found.loaded, *found.linked]:
            parts = urlsplit(address)
            if is_outside(address) or parts.scheme:
                continue
            aim = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
            if not aim.exists() or (parts.fragment and unquote(parts.fragment) not in anchors[aim]):
                broken.append(f"{page.relative_to(site)}: {address}")
    assert broken == []


@pytest.mark.slow
def test_a_broken_link_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("zensical") is None:
        pytest.skip("the extra [docs] is not installed")
    write = docs_site.relinked_page
    monkeypatch.setattr(
        docs_site, "relinked_page", lambda *given: f"{write(*given)}\n[gone](nowhere.md)\n"
    )
    with pytest.raises(subprocess.CalledProcessError):
        docs_site.build(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_of_the_site_ask_for_files_alone(site: Path, tab: Tab, width: int) -> None:
    """In a browser, on a phone and on a screen; nothing is wider than the window."""
    tab.resize(width)
    for name in ("index", "tutorials/audit-a-leaderboard", "reference/cli/build", "methods/bequ"):
        tab.open(site / f"{name}.html")
        assert tab.read("document.documentElement.scrollWidth") <= width, name
    asked = [address for address in tab.requests if not address.startswith(("file:", "data:"))]
    assert asked == []
    # Opened from disk, the site has no search: it would need a script of another host.
    assert [told for told in tab.complaints if "/search.js" not in told] == []
    tab.forget()  # pictures within the styles are asked for, as data


def test_the_output_is_not_tracked() -> None:
    assert docs_site.OUTPUT.relative_to(ROOT).parts[0] == "build"
    assert "/build/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
