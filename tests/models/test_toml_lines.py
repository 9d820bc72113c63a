"""On which line a key of a TOML file stands."""

from __future__ import annotations

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proofstone.models.entries import key_lines, line_of

TEXT = '''\
# a comment with [ a bracket and "a quote
a = 1
[models."a/b"]   # a comment ]
model = "x # no comment ["
"quoted key".sub = 3

[models."a/b".card]
languages = [
  "en",   # first ]
  'zh',
]
text = """
[not.a.table]
x = "1"
"""
literal = \'\'\'
'quoted' [z]\'\'\'
last = { input = 1, deep = { k = 2 } }
[[runs]]
q = 1
'''


def test_lines_of_tables_keys_and_inline_keys() -> None:
    entry, own = ("models", "a/b"), ("models", "a/b", "card")
    assert key_lines(TEXT) == {
        ("a",): 2,
        entry: 3,
        (*entry, "model"): 4,
        (*entry, "quoted key"): 5,
        (*entry, "quoted key", "sub"): 5,
        own: 7,
        (*own, "languages"): 8,
        (*own, "text"): 12,
        (*own, "literal"): 16,
        (*own, "last"): 18,
        (*own, "last", "input"): 18,
        (*own, "last", "deep"): 18,
        (*own, "last", "deep", "k"): 18,
        ("runs",): 19,
        ("runs", "q"): 20,
    }


def test_a_key_that_has_no_line_has_its_tables() -> None:
    lines = key_lines("[a]\n[a.b]\nc = 1\n")
    assert line_of(lines, ("a", "b", "c")) == 3
    assert line_of(lines, ("a", "b", "d", "e")) == 2
    assert line_of(lines, ("z",)) is None


def test_line_ends_of_windows_count_once() -> None:
    assert key_lines("a = 1\r\n\r\nb = 2\r\n") == {("a",): 1, ("b",): 3}


names = st.sampled_from(["a", "b-c", '"d e"', "'f#g'", '"h[i]"'])
values = st.sampled_from(
    [
        "1",
        '"x"',
        '"a # b ["',
        "'[\"'",
        "[1, 2]",
        "[\n1, # ]\n2\n]",
        "{ x = [1] }",
        '"""\nk = [\n"""',
    ]
)


@given(st.lists(st.tuples(names, names, values), max_size=6))
def test_every_key_of_any_text_is_found_where_it_was_written(
    entries: list[tuple[str, str, str]],
) -> None:
    """Tables of one key each, every table and key once: the line of each is known when written."""
    seen = {}
    text = "# first [\n"
    for number, (table, key, value) in enumerate(entries):
        header = f"[t{number}.{table}]"
        line = text.count("\n") + 1
        path = ("t" + str(number), _plain(table))
        seen[path], seen[(*path, _plain(key))] = line, line + 1
        text += f"{header}\n{key} = {value}\n"
    found = key_lines(text)
    assert {path: found[path] for path in seen} == seen
    _check_every_key_is_there(tomllib.loads(text), found)


def _plain(name: str) -> str:
    return name.strip("\"'")


def _check_every_key_is_there(document: Any, found: dict[tuple[str, ...], int]) -> None:
    for table, below in document.items():
        for name, keys in below.items():
            for key in keys:
                assert (table, name, key) in found
