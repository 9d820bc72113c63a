"""Documents: every passage stands verbatim at its offsets, under its heading."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.documents.passages import markdown_spans, paragraph_spans
from proofstone.documents.sources import Document, read_documents
from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.texts.languages import guess_language, read_language_code, said_language

ODD = st.text(
    st.sampled_from("ab #-`~>=1.*\n\r\t\v\f \x1c\x1e\x85\u2028\u2029\u00a0\ufeff水😀")
    | st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    max_size=200,
)


def read(folder: Path, name: str, data: bytes | str, **given_: str) -> tuple[Document, ...]:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_documents(path, **given_)


def blocks(text: str) -> list[tuple[str, str]]:
    return [(span.heading, text[span.start : span.end]) for span in markdown_spans(text)[0]]


@given(ODD, st.sampled_from(["x.txt", "x.md"]))
def test_every_passage_is_verbatim_at_its_offsets(text: str, name: str) -> None:
    with TemporaryDirectory() as folder:
        try:
            (document,) = read(Path(folder), name, text)
        except BadInput:
            assert name == "x.md" or not text.removeprefix("\ufeff").strip()
            return
    ends = 0
    for passage in document.passages:
        assert passage.text == document.pages[passage.page][passage.start : passage.end]
        assert passage.text == passage.text.strip()
        assert passage.text
        assert ends <= passage.start < passage.end
        ends = passage.end
    assert document.pages[None] == text.removeprefix("\ufeff")


@given(ODD)
def test_paragraphs_lose_nothing_but_white_space(text: str) -> None:
    kept = "".join(text[span.start : span.end] for span in paragraph_spans(text))
    assert "".join(kept.split()) == "".join(text.split())


@given(ODD)
def test_markdown_without_headings_loses_nothing_but_white_space(text: str) -> None:
    text = text.replace("#", "x").replace("=", "x").replace("-", "x")
    kept = "".join(span[1] for span in blocks(text))
    assert "".join(kept.split()) == "".join(text.split())


@given(
    st.lists(
        st.fixed_dictionaries(
            {"text": ODD.filter(str.strip)},
            optional={"page": st.integers(0, 3), "title": st.sampled_from(["A", "B"])},
        ),
        min_size=1,
        max_size=6,
    )
)
def test_passages_of_jsonl_are_verbatim_in_their_pages(rows: list[dict]) -> None:
    with TemporaryDirectory() as folder:
        documents = read(Path(folder), "x.jsonl", b"\n".join(orjson.dumps(row) for row in rows))
    assert [document.title for document in documents] == list(
        dict.fromkeys(row.get("title", "x") for row in rows)
    )
    for document in documents:
        for passage in document.passages:
            assert passage.text == document.pages[passage.page][passage.start : passage.end]
    kept = "".join(p.text for document in documents for p in document.passages)
    assert sorted("".join(kept.split())) == sorted(
        "".join("".join(r["text"] for r in rows).split())
    )


def test_paragraphs_are_cut_at_empty_lines_and_keep_their_line_ends(tmp_path: Path) -> None:
    data = "\ufeff  One\r\ntwo.\r\n \t\r\nThree\u2028four\x85.\n\n\n"
    (document,) = read(tmp_path, "notes.txt", data)
    assert [(p.start, p.end, p.text) for p in document.passages] == [
        (2, 11, "One\r\ntwo."),
        (17, 29, "Three\u2028four\x85."),
    ]
    source = document
    assert (source.title, source.language) == ("notes", "en")


def test_markdown_blocks_stand_whole_under_their_path_of_headings() -> None:
    text = """Before.

# Cells #

The cell
is small.
## Parts
- wall
  thick

  still the wall
- nucleus
goes on

After the list.
```py
# no heading

- no list
```
> quoted
> twice

Membranes
---------
1. one
2) two
### Deep
~~~
``` inside
~~~
#
Bare.
# Second
| a | b |
|---|---|
"""
    assert blocks(text) == [
        ("", "Before."),
        ("Cells", "The cell\nis small."),
        ("Cells > Parts", "- wall\n  thick\n\n  still the wall\n- nucleus\ngoes on"),
        ("Cells > Parts", "After the list."),
        ("Cells > Parts", "```py\n# no heading\n\n- no list\n```"),
        ("Cells > Parts", "> quoted\n> twice"),
        ("Cells > Membranes", "1. one\n2) two"),
        ("Cells > Membranes > Deep", "~~~\n``` inside\n~~~"),
        ("", "Bare."),
        ("Second", "| a | b |\n|---|---|"),
    ]
    assert markdown_spans(text)[1] == "Cells"


def test_an_unclosed_fence_runs_to_the_end_and_inline_backticks_open_none() -> None:
    assert blocks("```inline``` code\n\n````\na\n```\n\nb\n") == [
        ("", "```inline``` code"),
        ("", "````\na\n```\n\nb"),
    ]


def test_an_underline_makes_a_heading_of_level_one_or_two() -> None:
    assert blocks("A  long\ntitle\n=====\ntext\n\n---\n") == [
        ("A long title", "text"),
        ("A long title", "---"),
    ]


def test_a_heading_or_fence_right_under_a_list_ends_it() -> None:
    assert blocks("- a\n# H\n- b\n```\nc\n```\n") == [
        ("", "- a"),
        ("H", "- b"),
        ("H", "```\nc\n```"),
    ]


def test_title_language_and_licence_are_taken_where_given(tmp_path: Path) -> None:
    (document,) = read(tmp_path, "x.md", "# Zellen\n\nDie Zelle.\n")
    assert (document.title, document.language) == ("Zellen", "en")
    (document,) = read(
        tmp_path, "x.md", "# Zellen\n\nDie Zelle.\n", title="Bio", language="de", license="CC0"
    )
    source = document
    assert (source.title, source.language, source.license) == ("Bio", "de", "CC0")
    assert document.passages[0].language == "de"


def test_jsonl_lines_of_one_title_and_page_are_one_text(tmp_path: Path) -> None:
    rows = [
        {"text": "One.", "title": "A", "page": 2},
        {"text": "细胞很小。", "title": "B", "language": "zh-Hant", "license": "CC0"},
        {"text": "Two.\n\nThree.", "title": "A", "page": "2"},
        {"text": "No page.", "title": "A"},
    ]
    first, second = read(tmp_path, "x.jsonl", b"\n".join(orjson.dumps(row) for row in rows))
    assert dict(first.pages) == {2: "One.\n\nTwo.\n\nThree.", None: "No page."}
    assert [(p.page, p.start, p.end, p.text) for p in first.passages] == [
        (2, 0, 4, "One."),
        (2, 6, 10, "Two."),
        (2, 12, 18, "Three."),
        (None, 0, 8, "No page."),
    ]
    assert (second.language, second.license) == ("zh-Hant", "CC0")


def test_every_problem_of_a_jsonl_document_is_named(tmp_path: Path) -> None:
    lines = b'{"text": " ", "page": -1}\n7\n{"title": 3, "language": "English!"}\n'
    with pytest.raises(BadInput) as caught:
        read(tmp_path, "x.jsonl", lines)
    assert [str(problem) for problem in caught.value.problems] == [
        "line 1, field text: contains only white space",
        "line 1, field page: expected a whole number of 0 or more, got -1",
        "line 2: expected a JSON object, got a number",
        "line 3, field text: is missing or empty",
        "line 3, field title: expected text, got 3",
        'line 3, field language: expected a language code such as en or zh, got "English!"',
    ]


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        (
            b"\xef\xbb\xbfgood\ncaf\xe9\r\nx\x00\n",
            [
                "line 2: is not UTF-8: byte 0xE9 at offset 3 of the line (11 of the file)",
                "line 3: contains a NUL at offset 1 of the line",
            ],
        ),
        ("x".encode("utf-16"), ["line 1: is UTF-16 text; save it as UTF-8"]),
    ],
)
def test_what_is_no_utf8_text_is_named_by_line(
    tmp_path: Path, data: bytes, problems: list[str]
) -> None:
    with pytest.raises(BadInput) as caught:
        read(tmp_path, "x.txt", data)
    assert [str(problem) for problem in caught.value.problems] == problems


def test_no_text_no_file_and_no_known_suffix_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no text"):
        read(tmp_path, "x.md", "# Only a heading\n\n \n")
    with pytest.raises(NotFound):
        read_documents(tmp_path / "none.txt")
    with pytest.raises(BadUsage, match=r"expected one of .txt"):
        read_documents(tmp_path / "x.pdf")


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["The cell is small."], "en"),
        (["细胞很小。"], "zh"),
        (["函数 softmax(QK) 的梯度在 x = 0 处为零"], "zh"),
        (["The sign 水 is read shui and means water, as every beginner knows."], "en"),
        ([], "en"),
        (["123 + 4"], "en"),
        (["x" * 30_000, "水" * 30_000], "en"),
    ],
)
def test_a_tenth_of_chinese_letters_makes_a_text_chinese(texts: list[str], language: str) -> None:
    assert guess_language(texts) == language


@pytest.mark.parametrize(
    ("text", "code"),
    [("EN", "en"), (" zh-Hant ", "zh-Hant"), ("und", ""), ("English", None), ("e", None)],
)
def test_language_codes_are_read(text: str, code: str | None) -> None:
    assert read_language_code(text) == code


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("en", "en"), ("en-US", "en"), ("EN-gb", "en"), ("eng", "en"), ("en-Latn-US", "en"),
        ("de-AT-1996", "de"), ("zh-CN", "zh"), ("zh-Hans-HK", "zh"), ("zh-hant", "zh-Hant"),
        ("zh-TW", "zh-Hant"), ("chi", "zh"), ("sr-Latn-RS", "sr-Latn"), ("und", ""), ("", ""),
        ("English", ""),
    ],
)  # fmt: skip
def test_what_a_document_says_counts_without_its_region(said: str, language: str) -> None:
    """In every format the same: a script stays, but for the usual one."""
    assert said_language(said) == language


def test_passages_of_a_mixed_file_have_each_their_own_language(tmp_path: Path) -> None:
    path = tmp_path / "mixed.txt"
    english = "The hammer is raised above the anvil and falls on the glowing iron. " * 4
    path.write_text(f"{english.strip()}\n\n锤子举到铁砧上方，然后落在铁上。", encoding="utf-8")
    (document,) = read_documents(path)
    assert [passage.language for passage in document.passages] == ["en", "zh"]
