"""Read questions over documents from the rows of a file, and write them.

Alternative column names are separated by a bar. A missing column, null and an empty text are
equivalent.

- ``question`` with its options, in any format that ``files/fields`` reads, or in the lines of the
  question itself (``A. ...``), and ``answer``: letters (``AC``), a list, or an option's text.
- ``document`` | ``paper_title`` | ``paper`` | ``title``: the document's title, file name or id in
  the workspace, or a file in their folder, which is then ingested.
- ``evidence``: verbatim quotes by option (``{"A": ["..."]}``), or a list of quotes.
- ``type``: single or multiple; ``difficulty``: easy, moderate or hard.
- ``field`` | ``discipline``, ``year``, ``language``, ``id``, ``corrects``, ``written_by``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from msgspec import Struct, ValidationError, convert, structs, to_builtins

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import (
    ANSWER_COLUMNS,
    LETTERS,
    QUESTION_COLUMNS,
    Fields,
    QuestionDraft,
    RowOptions,
    came,
    check_repeats,
    collapsed,
    has_option_columns,
    read_answer_key,
    read_answer_keys,
    read_identity,
    read_json,
    read_options,
    read_questions,
)
from proofstone.methods.elaipbench.payloads import (
    DIFFICULTIES,
    SEVERAL,
    WHOLE,
    Evidence,
    Origin,
    PaperQuestion,
    QuestionType,
    question_of,
    shown_of,
)
from proofstone.records.items import Item, LoadedItem
from proofstone.records.knowledge import BuiltFact, Fact, Source, Span, Stratum, fact_id
from proofstone.records.tables import Library, PlacedRows, Row
from proofstone.texts.languages import UNDETERMINED
from proofstone.texts.quotes import PageTexts

DOCUMENT = ("document", "paper_title", "paper", "title")

_FIELD = ("field", "discipline", "category", "domain")

LEAST_TOKENS = 4096  # of a document (section 3.2.1)

USUAL_WORDS = (8192, 128_000)  # of a document (appendix A.2)

_NEAR = 200  # characters shown of the text nearest to a quote

_OPTION_LINE = re.compile(r"^\s*\(?([A-H])[.)、．:：]\s*", re.MULTILINE)

# Capitals that a question uses as a name: at least two of them, such as BM25 or GLMMs.
_ABBREVIATION = re.compile(r"\b[A-Z][A-Za-z0-9]*[A-Z][A-Za-z0-9]*\b")


def recognises_facts(columns: Iterable[str]) -> bool:
    """Return True for columns of questions on documents: question, answer, document, evidence."""
    names = set(columns)
    is_asked = not names.isdisjoint(QUESTION_COLUMNS) and not names.isdisjoint(ANSWER_COLUMNS)
    return is_asked and "evidence" in names and not names.isdisjoint((*DOCUMENT, "document_id"))


def recognises(_columns: Iterable[str]) -> bool:
    """Return False: questions on documents are imported as a bank."""
    return False


def read_items(_rows: Iterable[Row]) -> Sequence[Item]:
    """Raise BadInput: questions on documents are imported as a bank."""
    raise BadInput(
        "questions on documents are read as a bank, since each needs its document",
        hint="proofstone import FILE --as bank --method elaipbench",
    )


# Placing: the document of each row, and where its quotes are.


def place_evidence(rows: Iterable[Row], library: Library) -> PlacedRows:
    """Return the rows with their documents' ids and the places of their quotes.

    Problems: an unknown or ambiguous document, one that is too short, and quotes that are not in
    it, with the nearest text. Warnings: documents of unusual length, and abbreviations of a
    question that its document never uses.
    """
    placing = _Placing(library)
    placed = [placing.row(row) for row in rows]
    return PlacedRows(placed, placing.problems, placing.warnings)


class _Placing:
    """Place rows one by one; a document's texts are read once."""

    def __init__(self, library: Library) -> None:
        self.problems: list[Problem] = []
        self.warnings: list[str] = []
        self._library = library
        self._texts: dict[bytes, PageTexts] = {}
        self._words: dict[bytes, str] = {}

    def row(self, row: Row) -> Row:
        fields = Fields(row, [])
        if fields.has("document_id"):  # an export, with the places of its quotes
            self._check_places(row, fields.text("document_id"))
            return row
        name, said = fields.find(*DOCUMENT)
        source = self._source(row, name, str(said or "").strip())
        if source is None:
            return row
        found: dict[str, Any] = {
            "document_id": source.id.hex(),
            "document_title": source.title,
            "evidence": self._evidence(row, source),
        }
        if source.year is not None and not row.values.get("year"):
            found["year"] = source.year
        self._warn(row, source)
        row.values.update(found)  # in place: which columns are read is recorded by this dict
        return row

    def _wrong(self, row: Row, field: str, what: str) -> None:
        self.problems.append(Problem(f"{row.place}, field {field}", what))

    def _source(self, row: Row, field: str, name: str) -> Source | None:
        if not name:
            self._wrong(row, field, "is missing; expected a document's title, file name or id")
            return None
        try:
            found = self._library.named(name)
        except BadInput as error:
            self._wrong(row, field, str(error))
            return None
        if len(found) > 1:
            listed = ", ".join(f"source:{each.id.hex()[:8]}" for each in found)
            self._wrong(row, field, f"{len(found)} documents are named {came(name)}: use {listed}")
        elif not found:
            self._wrong(
                row,
                field,
                f"no document is named {came(name)}: ingest it, or put its file in the same folder",
            )
        else:
            self._read(row, field, found[0])
            return found[0]
        return None

    def _read(self, row: Row, field: str, source: Source) -> None:
        if source.id in self._texts:
            return
        pages = self._library.pages(source.id)
        self._texts[source.id] = PageTexts(pages)
        self._words[source.id] = text = "\n".join(pages.values())
        n_tokens = self._library.count(text)
        if n_tokens < LEAST_TOKENS:
            self._wrong(
                row, field,
                f"{source.title} has {n_tokens:,} tokens; expected {LEAST_TOKENS:,} or more",
            )  # fmt: skip
        n_words = len(text.split())
        least, most = USUAL_WORDS
        if not least <= n_words <= most:
            self.warnings.append(
                f"{source.title} has {n_words:,} words; {least:,} to {most:,} are recommended"
            )

    def _check_places(self, row: Row, document: str) -> None:
        """Report quotes of an export that are not at their places in its document."""
        found = self._library.named(document) if read_identity(document) else ()
        if not found:
            name = str(row.values.get("document_title") or document[:8])
            self._wrong(row, "document_id", f"{name} is not in this workspace: ingest it first")
            return
        pages = self._library.pages(found[0].id)
        for span in _spans(row.values.get("evidence")):
            if pages.get(span.page, "")[span.start : span.end] == span.text:
                continue
            at = PageTexts(pages).find(span.text)
            near = f"the nearest text is: {at.nearest[:_NEAR]}" if at.nearest else "nor elsewhere"
            what = f"it is at {', '.join(map(_place, at.spans))}" if at.spans else near
            self._wrong(row, "evidence", f"{came(span.text)} is not at {_place(span)}; {what}")

    def _evidence(self, row: Row, source: Source) -> list[dict[str, Any]]:
        texts, found = self._texts[source.id], []
        for option, quotes in _quotes(row.values.get("evidence")):
            spans: list[Span] = []
            for quote in quotes:
                at = texts.find(quote)
                spans += at.spans
                if not at.spans:
                    near = f"; the nearest text is: {at.nearest[:_NEAR]}" if at.nearest else ""
                    what = f"{came(quote)} is not in {source.title}{near}"
                    self._wrong(row, "evidence", what)
            found.append({"option": option, "spans": to_builtins(spans)})
        return found

    def _warn(self, row: Row, source: Source) -> None:
        asked = " ".join(
            str(row.values.get(name) or "") for name in (*QUESTION_COLUMNS, "options", *LETTERS[:8])
        )
        text = self._words[source.id]
        unknown = undefined_names(asked, text)
        if unknown:
            self.warnings.append(f"{row.place}: {source.title} never uses {', '.join(unknown)}")


def _place(span: Span) -> str:
    page = "" if span.page is None else f" of page {span.page}"
    return f"characters {span.start} to {span.end}{page}"


def undefined_names(asked: str, document: str) -> list[str]:
    """Return the abbreviations of a question that its document never uses."""
    return sorted({name for name in _ABBREVIATION.findall(asked) if name not in document})


def _quotes(said: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield each option's letter ("" for the question) with its quotes."""
    if isinstance(said, str) and said.strip()[:1] in ("{", "["):
        said = read_json(said)
    if isinstance(said, Mapping):
        for option, quotes in said.items():
            yield str(option), [quotes] if isinstance(quotes, str) else [str(q) for q in quotes]
    elif isinstance(said, str) and said.strip():
        yield "", [part for part in re.split(r"\n\s*\n", said) if part.strip()]
    elif isinstance(said, list):
        yield "", [str(quote) for quote in said]


# Rows to facts.


def read_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """Read the questions of a file, whose documents and quotes are placed.

    Raises BadInput with every problem of all rows.
    """
    return [_fact(draft) for draft in read_questions(rows, _draft, _check)]


def _draft(fields: Fields) -> QuestionDraft:
    question, options = _asked(fields)
    right = _right(fields, options) if options.texts else ()
    stated = _type(fields, len(right))
    payload = PaperQuestion(
        question=question,
        options=options.texts,
        answer_key=right,
        question_type=stated,
        evidence=_evidence(fields, options),
        difficulty=_one_of(fields, "difficulty", DIFFICULTIES),
        title=fields.text("document_title"),
        year=fields.number("year"),
        written_by=_one_of(fields, "written_by", get_args(Origin)),
    )
    return QuestionDraft(
        place=fields.place,
        key=fields.key("id", "question_id", "uuid"),
        question=question,
        payload=(payload, _document(fields)),
        stratum=Stratum(discipline=fields.label(*_FIELD).strip(), book=payload.title),
        language=fields.language(),
        corrects=fields.identity("corrects"),
        is_sound=fields.is_sound,
    )


def _asked(fields: Fields) -> tuple[str, RowOptions]:
    """Return the question and its options, which may be lines of the question."""
    text = fields.required_text(*QUESTION_COLUMNS)
    if has_option_columns(fields.values):
        return text, read_options(fields)
    marks = list(_OPTION_LINE.finditer(text))
    letters = "".join(mark[1] for mark in marks)
    if len(marks) < 2 or letters != LETTERS[: len(marks)]:
        fields.wrong("options", "is missing, and the question has no lines A., B., ...")
        return text, RowOptions(())
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    parts = [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    return text[: marks[0].start()].strip(), RowOptions(tuple(parts))


def _right(fields: Fields, options: RowOptions) -> tuple[int, ...]:
    name, answer = fields.find(*ANSWER_COLUMNS)
    if isinstance(answer, str) and re.fullmatch(r"[A-Z]{2,26}", answer.strip()):
        letters = answer.strip()
        if len(set(letters)) < len(letters):
            fields.wrong(name, f"{came(answer)} names an option twice")
        places = sorted({LETTERS.index(letter) for letter in letters})
        if places[-1] >= len(options.texts):
            fields.wrong(name, f"{came(answer)} is not among the {len(options.texts)} options")
            return ()
        return tuple(places)
    several = read_answer_keys(fields, options)
    if several or not fields.is_sound:
        return several
    one = read_answer_key(fields, options)
    return () if one is None else (one,)


def _type(fields: Fields, n_right: int) -> QuestionType:
    said = fields.text("type").strip().lower()
    known: dict[str, QuestionType] = {
        "single": "single", "sa-mcq": "single", "multiple": "multiple", "ma-mcq": "multiple",
    }  # fmt: skip
    found = known.get(said)
    if said and found is None:
        fields.wrong("type", f"expected single or multiple, got {came(said)}")
    stated: QuestionType = found or ("multiple" if n_right > 1 else "single")
    if not n_right or not fields.is_sound:
        return stated
    if stated == "single" and n_right != 1:
        fields.wrong("type", f"a single-answer question has 1 correct option, not {n_right}")
    if stated == "multiple" and n_right not in SEVERAL:
        fields.wrong(
            "type", f"a multiple-answer question has 2 or 3 correct options, not {n_right}"
        )
    return stated


def _one_of(fields: Fields, name: str, known: Sequence[str]) -> Any:
    said = fields.text(name).strip().lower()
    if said not in known:
        fields.wrong(name, f"expected one of {', '.join(filter(None, known))}, got {came(said)}")
        return ""
    return said


def _document(fields: Fields) -> bytes | None:
    said = fields.text("document_id")
    found = read_identity(said)
    if said and found is None:
        fields.wrong("document_id", f"expected 64 hexadecimal digits, got {came(said)}")
    return found


def _evidence(fields: Fields, options: RowOptions) -> tuple[Evidence, ...]:
    found: dict[int, tuple[Span, ...]] = {}
    for each in _placed(fields.values.get("evidence")):
        letter = each.option.strip().upper()
        place = LETTERS.find(letter) if letter else WHOLE
        if letter and not 0 <= place < len(options.texts):
            fields.wrong("evidence", f"{came(letter)} is not one of the options")
        elif each.spans:
            found[place] = (*found.get(place, ()), *each.spans)
    if not fields.values.get("evidence"):  # quotes that were not found are reported above
        fields.wrong("evidence", "is missing or empty; expected verbatim quotes")
    return tuple(Evidence(place, spans) for place, spans in sorted(found.items()))


class _Placed(Struct):
    """Quotes of one option ("": of the question) with their places, as an export writes them."""

    option: str
    spans: tuple[Span, ...]


def _placed(said: Any) -> tuple[_Placed, ...]:
    """Return the quotes of a row that have places; none if they are of another form."""
    if isinstance(said, str) and said.lstrip()[:1] == "[":
        said = read_json(said)
    try:
        return convert(said or (), tuple[_Placed, ...])
    except ValidationError:  # plain quotes, of a row whose document is unknown
        return ()


def _spans(said: Any) -> list[Span]:
    return [span for each in _placed(said) for span in each.spans]


def _check(drafts: Sequence[QuestionDraft], problems: list[Problem]) -> None:
    check_repeats(
        drafts,
        problems,
        lambda draft: (
            (collapsed(draft.question), draft.payload[0].options) if draft.is_sound else None
        ),
        " with the same options",
    )


def _fact(draft: QuestionDraft) -> BuiltFact:
    payload, source = draft.payload
    fact = Fact(
        kind="elaipbench.question",
        payload=payload,
        language=draft.language or "",
        stratum=draft.stratum,
        source=source,
        corrects=draft.corrects,
    )
    return BuiltFact(structs.replace(fact, id=fact_id(fact)))


# Facts and items to rows.


def write_fact(built: BuiltFact, _facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """Return the row of a question; ``read_facts`` reads it back unchanged."""
    fact = built.fact
    payload: PaperQuestion = fact.payload
    return {
        "id": fact.id.hex(),
        **_row(payload, payload.options, [LETTERS[place] for place in payload.answer_key]),
        "document_id": fact.source.hex() if fact.source else "",
        "evidence": [
            {
                "option": "" if each.option == WHOLE else LETTERS[each.option],
                "spans": to_builtins(each.spans),
            }
            for each in payload.evidence
        ],
        **({"field": fact.stratum.discipline} if fact.stratum.discipline else {}),
        **({"corrects": fact.corrects.hex()} if fact.corrects else {}),
        "language": fact.language or UNDETERMINED,
    }


def write_item(item: LoadedItem) -> dict[str, Any]:
    """Return the row of an item with its texts, its options in the order shown."""
    shown = shown_of(item)
    return {
        "id": item.item.id.hex(),
        **_row(question_of(item), shown.options, shown.right),
        "language": item.item.language or UNDETERMINED,
        "number": item.item.number,
    }


def _row(payload: PaperQuestion, options: Sequence[str], right: Sequence[str]) -> dict[str, Any]:
    optional = {
        "document_title": payload.title,
        "difficulty": payload.difficulty,
        "year": payload.year,
        "written_by": payload.written_by,
    }
    return {
        "question": payload.question,
        "options": list(options),
        "answer": "".join(right),
        "type": payload.question_type,
        **{name: value for name, value in optional.items() if value},
    }
