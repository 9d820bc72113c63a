"""Addresses of pages: what is one, what is the same page, and whose it is."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.review.sheet_answers import (
    NoAddress,
    is_of_site,
    pages_of,
    read_address,
    read_site,
    split_addresses,
)

HOSTS = st.sampled_from(["zh.wikipedia.org", "baike.baidu.com", "例子.中国", "a.b.gov.cn"])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://zh.wikipedia.org/wiki/%E4%BC%8F", "http://ZH.Wikipedia.ORG:80/wiki/伏/"),
        ("https://zh.wikipedia.org:443/wiki/A#History", "https://zh.wikipedia.org./wiki/A"),
        ("https://例子.中国/a", "https://xn--fsqu00a.xn--fiqs8s/a"),
        ("https://例子。中国/a", "https://例子.中国/a"),
    ],
)
def test_dress_makes_no_second_page(first: str, second: str) -> None:
    assert read_address(first) == read_address(second)
    assert len(pages_of([first, second])) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://a.org/x", "https://a.org/X"),
        ("https://a.org/x?id=1", "https://a.org/x?id=2"),
        ("https://a.org/x", "https://a.org:8080/x"),
        ("https://a.org/#/x", "https://a.org/#/y"),
    ],
)
def test_other_pages_stay_apart(first: str, second: str) -> None:
    assert len(pages_of([first, second])) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected https:// or http://, got ''"),
        ("javascript:alert(1)", "expected https:// or http://, got 'javascript:alert(1)'"),
        ("zh.wikipedia.org/wiki/A", "expected https:// or http://"),
        ("//zh.wikipedia.org/wiki/A", "expected https:// or http://"),
        ("ftp://zh.wikipedia.org/A", "expected https:// or http://"),
        ("https:///wiki/A", "invalid host in"),
        ("https://a..b/", "invalid host in"),
        ("https://-.org/", "invalid host in"),
        ("https://localhost/", "expected the host of a site"),
        ("https://10.0.0.1/", "the host of"),
        ("https://[::1]/", "invalid host in"),
        ("https://[::1/", "invalid address 'https://[::1/'"),
        ("https://a.org:99999/", "Port out of range"),
        ("https://wikipedia.org@evil.com/", "credentials before the host of"),
        ("https://evil.com\\.wikipedia.org/", "or backslash in"),
        ("https://a.org/one two", "white space"),
        (f"https://{'a' * 64}.org/", "invalid host in"),
    ],
)
def test_what_is_no_address_says_why(text: str, told: str) -> None:
    with pytest.raises(NoAddress) as raised:
        read_address(text)
    assert told in str(raised.value)
    assert pages_of([text]) == ()


@pytest.mark.parametrize(
    ("host", "site", "is_of"),
    [
        ("zh.wikipedia.org", "Wikipedia.org", True),
        ("wikipedia.org", "wikipedia.org", True),
        ("notwikipedia.org", "wikipedia.org", False),
        ("wikipedia.org.evil.com", "wikipedia.org", False),
        ("org", "wikipedia.org", False),
        ("www.mit.edu", ".edu", True),
        ("edu.example.com", ".edu", False),
        ("www.stats.gov.cn", "gov.cn", True),
        ("www.xn--fsqu00a.xn--fiqs8s", "例子.中国", True),
    ],
)
def test_a_host_is_of_a_site_by_whole_labels(host: str, site: str, *, is_of: bool) -> None:
    assert is_of_site(host, read_site(site)) is is_of


@pytest.mark.parametrize("site", ["", "com", "https://a.org", "a.org/wiki", "a b.org", "..", "."])
def test_what_is_no_site_is_refused(site: str) -> None:
    with pytest.raises(NoAddress):
        read_site(site)


def test_a_cell_holds_several_addresses() -> None:
    cell = " https://a.org/x,https://b.org/y；http://c.org/z\nhttps://d.org/1,2 "
    assert split_addresses(cell) == [
        "https://a.org/x", "https://b.org/y", "http://c.org/z", "https://d.org/1,2",
    ]  # fmt: skip
    assert split_addresses(" ") == []


@given(host=HOSTS, path=st.text(st.characters(categories=["L", "N"]), max_size=8))
def test_capitals_and_ports_are_dress(host: str, path: str) -> None:
    plain = read_address(f"https://{host}/{path}")
    assert read_address(f"HTTPS://{host.upper()}:443/{path}/#here") == plain
    assert is_of_site(plain.host, read_site(host))


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_told(text: str) -> None:
    """Nothing but a NoAddress is ever raised."""
    for read in (read_address, read_site):
        with suppress(NoAddress):
            assert read(text)
