"""One browser for all tests of pages, and the pages, each made once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from tools.chromium import find_chromium

from browser.devtools import DevTools, started
from browser.pages import Page, make_page
from browser.tab import Tab, opened


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevTools]:
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium on the path, and CHROMIUM names none: pages are not tried in one")
    with started(program, tmp_path_factory.mktemp("profile")) as tools:
        yield tools


@pytest.fixture
def tab(chromium: DevTools) -> Iterator[Tab]:
    """An empty tab; what the test then opens must not complain, nor ask for anything else."""
    with opened(chromium) as tab:
        yield tab
        assert tab.complaints == []
        assert all(address.startswith("file:") for address in tab.requests)


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The file of a page by its name in ``PAGES``, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("pages")
    return cache(lambda name: make_page(name, folder))
