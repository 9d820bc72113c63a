"""One workspace, made by commands alone, and what every command printed on the way.

Nothing of the package but its command line is used, so that what is recorded holds wherever its
modules stand.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import xlsxwriter
from python_calamine import CalamineWorkbook

from guards.endpoint import endpoint
from guards.normal import Normal
from proofstone.cli import main

__all__ = ["PRINTED", "printed_by_commands"]

_ROOT = Path(__file__).resolve().parents[2]
PRINTED = "printed"  # the folder of what was recorded
_DATA = _ROOT / "docs" / "data"
_ANN, _BOB = "sim/ann?ability=0.8", "sim/bob?miss=0.5"


class Said(NamedTuple):
    """The end of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class _PageText(HTMLParser):
    """Collect the words of a page, one line for each text node; scripts and styles left out."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.lines.append(" ".join(data.split()))


def _words_of_page(html: str) -> str:
    parser = _PageText()
    parser.feed(html)
    return "\n".join(parser.lines) + "\n"


class Session:
    """Runs commands in the current folder and writes down what they print."""

    def __init__(self, folder: Path) -> None:
        self.chapters: dict[str, str] = {}
        self._name = ""
        self._normal = Normal(folder)

    def chapter(self, name: str) -> None:
        """What is printed from here on stands under this name."""
        n_chapters = sum(not each.startswith("page-") for each in self.chapters)
        self._name = f"{n_chapters + 1:02}-{name}"
        self.chapters[self._name] = ""

    def __call__(self, *words: object) -> Said:
        """Runs a command and records what it prints."""
        arguments = [str(word) for word in words]
        out, err = io.StringIO(), io.StringIO()
        code: object = None
        before = sys.argv
        sys.argv = ["proofstone", *arguments]  # a page says by which command it was made
        try:
            with redirect_stdout(out), redirect_stderr(err):
                main(arguments)
        except SystemExit as left:
            code = left.code
        finally:
            sys.argv = before
        assert isinstance(code, int), arguments
        talk = "".join(f"2> {line}\n" for line in err.getvalue().splitlines())
        self._add(f"$ proofstone {' '.join(arguments)}\n{out.getvalue()}{talk}= {code}\n\n")
        return Said(code, out.getvalue(), err.getvalue())

    def file(self, path: str) -> None:
        """Records a text file that a command wrote."""
        text = Path(path).read_text(encoding="utf-8-sig")
        self._add(f"< {path}\n{text}\n")

    def page(self, path: str) -> None:
        """Record the words of a page that a command wrote, under a name of its own."""
        name = "page-" + path.removesuffix(".html").replace("/", "-")
        html = self._normal.text(Path(path).read_text(encoding="utf-8"))
        self.chapters[name] = _words_of_page(html)

    def _add(self, text: str) -> None:
        self.chapters[self._name] += self._normal.text(text)


def printed_by_commands(folder: Path) -> dict[str, str]:
    """Run every command in a new ``folder``; the texts by chapter, and the words of each page."""
    folder.mkdir()
    session = Session(folder)
    with _environment(folder), chdir(folder), endpoint() as url:
        (folder / "proofstone.toml").write_text(_SETTINGS.format(url=url), encoding="utf-8")
        _write_inputs(folder)
        for step in _STEPS:
            step(session)
    return session.chapters


@contextmanager
def _environment(folder: Path) -> Iterator[None]:
    """Nothing of the machine's own settings, terminal and user."""
    before = dict(os.environ)
    for name in list(os.environ):
        if name.startswith("PROOFSTONE_") or name.endswith("_API_KEY") or name in _OF_MACHINE:
            del os.environ[name]
    os.environ.update(
        XDG_CONFIG_HOME=str(folder.parent / "settings"), PROOFSTONE_ACTOR="Ada", COLUMNS="80"
    )
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


_OF_MACHINE = {
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
    "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR",
}  # fmt: skip
_SETTINGS = """\
[providers.scripted]
base_url = "http://models.example/v1"  # a part of what runs are named by, so without the port
proxy = "{url}"

[models."scripted/author"]
price = {{ input = 2.0, output = 10.0, date = "2025-11-01", source = "https://e.x" }}

[models."scripted/judge".card]
lab = "Acme"
kind = "chat"
"""


# ---- what goes in ----


def _write_inputs(folder: Path) -> None:
    _lines(folder / "old-books.jsonl", _statements())
    _lines(
        folder / "sums.jsonl",
        [
            {"question": f"What is {n} + 1?", "options": [str(n + 1), "0", "1"], "answer": "A"}
            for n in range(5, 11)
        ],
    )
    _lines(
        folder / "found.jsonl",
        [
            {
                "question": f"Who found number {n}?", "answer": f"Finder-{n}",
                "primary_category": "AB"[n % 2], "answer_type": "person",
            }
            for n in range(8)
        ],
    )  # fmt: skip
    _lines(
        folder / "twins.jsonl",
        [
            {
                "question": f"Which planet has number {n}?", "answer": f"Planet {n}",
                "closed_question": f"Planet number {n} is ( ).",
                "options": [f"Planet {n + at}" for at in range(4)], "answer_letter": "A",
            }
            for n in range(6)
        ],
    )  # fmt: skip
    _lines(
        folder / "towns.jsonl",
        [{"name": f"Town {n}", "domain": "location", "tier": "AB"[n % 2]} for n in range(4)],
    )
    _lines(
        folder / "known.jsonl",
        [
            {
                "entity": f"Town {town}", "predicate": f"fact{n}", "object": f"value {town}-{n}",
                "passage": f"Town {town} is known for fact{n}, which is value {town}-{n}.",
                "source": "wiki" if n % 2 else "web", "title": f"Town {town}",
            }
            for town in range(4)
            for n in range(5)
        ],
    )  # fmt: skip
    _lines(
        folder / "responses.jsonl",
        [
            {"response": "The answer is B.", "options": 4},
            {"response": "I will not say.", "options": ["one", "two"]},
            {"response": "Answer: F", "options": 3},
        ],
    )
    _lines(
        folder / "graded.jsonl",
        [
            {"question": f"Who found number {n}?", "answer": f"Finder-{n}", "response": response}
            for n, response in enumerate(("Finder-0.", "It was Nobody-1.", "I do not know.", ""))
        ],
    )
    books = folder / "Metals"
    books.mkdir()
    for name, place in (("north.txt", "in the north"), ("south.md", "in the south")):
        lines = [
            f"The metal {metal} found {place} conducts heat better than {n} other metals known."
            for n, metal in enumerate(
                ("copper", "silver", "iron", "zinc", "tin", "answer_key"), start=2
            )
        ]
        (books / name).write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    (folder / "capitals.csv").write_text(
        "country,capital\nFrance,Paris\nItaly,Rome\nSpain,Madrid\nPeru,Lima\nKenya,Nairobi\n",
        encoding="utf-8",
    )
    (folder / "bad.jsonl").write_text('{"text": "", "correct": "perhaps"}\n', encoding="utf-8")
    for name, scores in (("before", "1" * 200), ("after", "0" * 60 + "1" * 140)):
        rows = "".join(f"q{place},{score}\n" for place, score in enumerate(scores))
        (folder / f"{name}.csv").write_text(f"item,model-x\n{rows}", encoding="utf-8")


def _statements() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for book in ("Herbal", "Almanac"):
        place = {"discipline": "Lore", "field": "Old books", "subfield": book, "book": book}
        for n in range(12):
            text = f"Leaf {n} of the {book} shows {{}} drawings."
            made += [
                {"id": f"{book}-{n}", "text": text.format(n + 2), "correct": True, **place},
                {
                    "id": f"{book}-{n}-false", "text": text.format(n + 3), "correct": False,
                    "origin": f"{book}-{n}", "error_type": "detail falsification",
                    "reason": f"it shows {n + 2}", **place,
                },
            ]  # fmt: skip
    return made


def _lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


# ---- what is done ----


def _begin(say: Session) -> None:
    say.chapter("begin")
    say("init", ".")
    say("init", ".")
    say("status")
    say("doctor", "--config")
    for kind in ("source", "bank", "form", "entities", "reference", "run", "plan", "build"):
        say("list", kind)
    say("list", "taxonomy")
    say("show", "taxonomy:encyclo-k")
    say("list", "presets")
    say("list", "presets", "--json")
    for preset in _PRESETS:
        say("show", "preset", *preset)
    say("models", "list")
    say("models", "price")
    say("models", "check", "scripted/judge")


_CAPITALS = """
title = "Capitals"
language = "en"
license = "CC0-1.0"
discipline = "Science"
field = "Geography"
subfield = "Capitals"
key = "country"

[[points]]
name = "capital"
column = "capital"
title = "capital of {country}"
say = ["The capital of {country} is {capital}."]
"""
_PRESETS = (
    ("encyclo_k",), ("chinese_simpleqa",), ("bequ/random",), ("bequ/effort",),
    ("bequ/prompts", "--json"),
)  # fmt: skip


def _refused(say: Session) -> None:
    say.chapter("refused")
    say("import", "bad.jsonl", "--as", "bank")
    say("import", "gone.jsonl", "--as", "bank")
    say("show", "item:ffffffff")
    say("run", "nothing", "-m", _ANN)
    say("run", "nothing", "-m", "sim/ann?talent=1")
    say("build", "form", "nothing")
    say("no-such-command")
    say("list", "no-such-kind")


def _documents(say: Session) -> None:
    say.chapter("documents")
    stated = ("--license", "CC0-1.0", "--discipline", "Science", "--field", "Metals")
    say("ingest", "Metals", *stated)
    say("ingest", "Metals", *stated, "--json")
    say("list", "source")
    sources = say("list", "source", "--json").json
    say("show", f"source:{sources[0]['id'][:8]}")
    say("show", f"page:{sources[0]['id'][:8]}/1")
    say("search", "silver in the north", "-k", 2)
    say("search", "silver in the north", "-k", 1, "--json")


def _statements_built(say: Session) -> None:
    say.chapter("statements-built")
    roles = ("-m", "scripted/author", "--judge", "scripted/judge")
    say("build", "statements", "north", "south", *roles, "--name", "metals", "--show", 1)
    say("build", "statements", "north", "south", *roles, "--name", "metals", "--yes")
    say("list", "build")
    (build,) = say("list", "build", "--json").json
    name = f"build:{build['id'][:8]}"
    say("show", name)
    say("show", name, "--dropped")
    say("show", name, "--judges")
    say("show", name, "--verdicts", "-n", 2)
    say("show", "metals", "--statistics")
    say("build", "short-qa", "north", *roles, "--show", 1)
    say("build", "statements", "capitals.csv")
    Path("capitals.toml").write_text(_CAPITALS, encoding="utf-8")
    say("build", "statements", "capitals.csv")


def _bank(say: Session) -> None:
    say.chapter("bank")
    say("import", "old-books.jsonl", "--as", "bank", "--role", "wrote=openai/gpt-4.1")
    say("list", "bank")
    say("list", "bank", "--json")
    say("show", "old-books")
    say("show", "old-books", "--statistics")
    say("check", "old-books")
    say("check", "old-books", "--taxonomy", "encyclo-k")
    for end in ("jsonl", "csv", "tsv"):
        say("export", "old-books", "-o", f"facts.{end}")
        say.file(f"facts.{end}")
    for end in ("parquet", "xlsx"):
        say("export", "old-books", "-o", f"facts.{end}")
    say("import", "facts.xlsx", "--as", "bank", "--name", "old-books")
    say("import", "facts.parquet", "--as", "bank", "--name", "old-books", "--json")


def _forms(say: Session) -> None:
    say.chapter("forms")
    say("build", "form", "old-books", "--questions", 9, "--seeds", "40,41")
    say("build", "form", "old-books", "--questions", 9, "--seeds", "40,41", "--json")
    say("build", "form", "metals", "--setting", "statements", "--sample", 12, "--name", "single")
    say("import", "sums.jsonl", "--as", "form")
    say("list", "form")
    forms = say("list", "form", "--json").json
    say("show", _form(forms, "old-books"))
    say("show", "sums")
    say("check", _form(forms, "old-books"))
    say("export", _form(forms, "old-books"), "-o", "items.jsonl")
    say.file("items.jsonl")
    items = Path("items.jsonl").read_text(encoding="utf-8").splitlines()
    item = json.loads(items[0])["item_id"]
    say("show", f"item:{item[:8]}")
    say("show", f"item:{item[:8]}", "--json")
    facts = Path("facts.jsonl").read_text(encoding="utf-8").splitlines()
    fact = next(value for key, value in json.loads(facts[0]).items() if key.endswith("id"))
    say("show", f"fact:{fact[:8]}")


def _form(forms: list[Mapping[str, Any]], name: str) -> str:
    """The first form of this name, by its id."""
    found = min(form["id"] for form in forms if form["name"] == name)
    return f"form:{found[:8]}"


def _plans(say: Session) -> None:
    say.chapter("plans")
    say("build", "plan", "sums", "--compare", _ANN, _BOB, "--exclude", "none")
    say("list", "plan")
    say("build", "plan", "sums", "--measure", "luck")


def _runs(say: Session) -> None:
    say.chapter("runs")
    say("run", "old-books", "-m", f"{_ANN},{_BOB}", "--show", 1)
    say("run", "old-books", "-m", f"{_ANN},{_BOB}", "--dry-run", "--pilot", 0)
    for ask in ("cot", "as-published", "verdicts", "confidence"):
        say("run", "old-books", "-m", _ANN, "--prompt-method", ask, "--show", 1)
    say(
        "run",
        "old-books",
        "-m",
        f"{_ANN},{_BOB}",
        "--prompt-method",
        "direct,cot",
        "--save",
        "run.toml",
    )
    say.file("run.toml")
    say("run", "run.toml")
    say("run", "sums", "-m", f"{_ANN},{_BOB}", "--samples", 3)
    say("run", "single", "-m", f"{_ANN},{_BOB}")
    say("run", "single", "-m", "sim/cas", "--limit", 2)
    say("list", "run")
    runs = say("list", "run", "--json").json
    limited = next(run["id"] for run in runs if "cas" in json.dumps(run))
    say("run", "--resume", f"run:{limited[:8]}")
    say("doctor", "--config", "--", "sums", "-m", _ANN)
    overridden = _run(runs, "bob", "old-books", "direct")
    say("show", overridden)
    say("show", overridden, "--outcome", "wrong", "-n", 1)
    say("show", overridden, "--outcome", "unparsed", "-n", 1, "--json")
    say("grade", overridden)
    say("grade", overridden, "--again")
    say("grade", overridden, "--list")
    for what in ("responses", "scores"):
        say("export", overridden, "--what", what, "-o", f"{what}.jsonl")
        say.file(f"{what}.jsonl")


def _run(runs: list[Mapping[str, Any]], *words: str) -> str:
    """The run that has these words in its row, the first by id."""
    found = [run["id"] for run in runs if all(word in json.dumps(run) for word in words)]
    return f"run:{min(found)[:8]}"


def _read(say: Session) -> None:
    say.chapter("results")
    say("leaderboard", "old-books")
    say("leaderboard", "old-books", "--by", "book", "--population", "bank")
    say("leaderboard", "old-books", "--json")
    say("leaderboard", "sums")
    say("leaderboard", "single")
    say("export", "sums", "--what", "leaderboard", "-o", "board.csv")
    say.file("board.csv")
    runs = say("list", "run", "--json").json
    ann, bob = (_run(runs, name, "old-books", "direct") for name in ("ann", "bob"))
    say("compare", ann, bob, "-n", 1, "-o", "moved.csv")
    say("compare", "before.csv", "after.csv")
    say("compare", ann, bob, "--gate", "--max-drop", 2, "--markdown", "gate.md")
    say.file("gate.md")
    for a, b in (("before", "before"), ("after", "before")):
        say("compare", f"{b}.csv", f"{a}.csv", "--gate", "--max-drop", 5)


def _pages(say: Session) -> None:
    say.chapter("pages")
    say(
        "report", "old-books", "-o", "report.html", "--tables", "csv", "--flagged-items", "work.csv"
    )
    say.page("report.html")
    say.file("work.csv")
    say("report", "sums", "-o", "sums.html", "--audience", "public")
    say.page("sums.html")
    say("report", "sums", "-o", "sums-zh.html", "--ui-language", "zh")
    say.page("sums-zh.html")
    for analysis in ("seeds", "position", "length", "levels", "settings", "difficulty", "topics"):
        say("report", "old-books", "--analysis", analysis)
    say("report", "old-books", "--analysis", "seeds", "-o", "seeds.csv")
    say.file("seeds.csv")


def _audits(say: Session) -> None:
    say.chapter("audits")
    say("audit", "after.csv", "-o", "after.html")
    say.page("after.html")
    say("audit", "after.csv", "-o", "after-zh.html", "--ui-language", "zh")
    say.page("after-zh.html")
    for name in ("bequ-leaderboard", "encyclo-k-table-3", "chinese-simpleqa-table-2"):
        Path(f"{name}.csv").write_bytes((_DATA / f"{name}.csv").read_bytes())
        say("audit", f"{name}.csv", "-o", f"{name}.html")
        say.page(f"{name}.html")


def _corrections(say: Session) -> None:
    say.chapter("corrections")
    runs = say("list", "run", "--json").json
    bob = _run(runs, "bob", "old-books", "direct")
    shown = say("show", bob, "--outcome", "unparsed", "-n", 1).out
    response = re.search(r"response:(\S+)", shown)
    assert response is not None
    item = f"item:{response[1].split('/')[1]}"
    say("correct", "override", response[1], "correct", "--reason", "meant so")
    say("correct", "override", response[1], "invalidated", "--reason", "on second thoughts")
    say("correct", "exclude", item, "--reason", "it points at a leaf")
    say("leaderboard", "old-books")
    say("leaderboard", "old-books", "--ignore-corrections")
    say("correct", "include", item, "--reason", "it does not")
    fact = next(row for row in _facts() if row["text"] == "Leaf 3 of the Herbal shows 5 drawings.")
    name = f"fact:{next(value for key, value in fact.items() if key.endswith('id'))[:8]}"
    say("correct", "edit", name, "--fields")
    say("correct", "edit", name, "--set", "text=The third leaf of the Herbal shows 5 drawings.",
        "--reason", "clearer")  # fmt: skip
    say("list", "bank")


def _facts() -> list[dict[str, Any]]:
    lines = Path("facts.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _reviews(say: Session) -> None:
    say.chapter("reviews")
    say("review", "export", "old-books", "--to", "sheet.xlsx", "--people", "Anna,Ben",
        "--shared", "100%")  # fmt: skip
    for name in ("anna", "ben"):
        _fill(Path(f"sheet-{name}.xlsx"), name)
    say("review", "import", "sheet-anna.xlsx", "sheet-ben.xlsx")
    say("review", "import", "sheet-anna.xlsx")
    say("review", "status", "old-books")
    say("review", "agreement", "old-books")
    say(
        "review",
        "decide",
        "old-books",
        "--quorum",
        2,
        "--flagged-items",
        "todo.csv",
        "-o",
        "decided.csv",
    )
    say.file("todo.csv")
    say.file("decided.csv")
    say("correct", "apply", "todo.csv")
    say("review", "status", "old-books", "--quorum", 2)
    say("show", "old-books")
    say("review", "export", "old-books", "-o", "reviews.jsonl")
    say(
        "review", "export", "old-books", "--to", "truth.xlsx", "--fact-check", 4, "--people", "Anna"
    )
    say("review", "withdraw", "truth.xlsx", "--reason", "not needed")
    say("review", "erase", "Ben")


def _fill(path: Path, name: str) -> None:
    """Fills in a sheet as a person does, and saves it as another program would."""
    book = CalamineWorkbook.from_path(path)
    tabs = {tab: book.get_sheet_by_name(tab).to_python() for tab in book.sheet_names}
    rows = next(rows for rows in tabs.values() if any("Your decision" in row for row in rows))
    heads = rows[0]
    for row in rows[1:]:
        text = row[heads.index("Statement")]
        drops = text.startswith("Leaf 1 of the Herbal") and (name == "anna" or "3" in text)
        row[heads.index("Your decision")] = "drop it" if drops else "keep it"
        if drops:
            row[heads.index("Reason or remark")] = "it points at a leaf"
        if text == "Leaf 2 of the Herbal shows 4 drawings.":
            row[heads.index("Your decision")] = "fix it"
            row[heads.index("New wording")] = "The second leaf of the Herbal shows 4 drawings."
            row[heads.index("Truth of the new wording")] = "it is true"
    with xlsxwriter.Workbook(path) as saved:
        for tab, lines in tabs.items():
            sheet = saved.add_worksheet(tab)
            for number, line in enumerate(lines):
                sheet.write_row(number, 0, line)


def _short_questions(say: Session) -> None:
    say.chapter("short-questions")
    say("import", "found.jsonl", "--as", "form")
    for ask in ("direct", "recall", "cot", "confidence"):
        say("run", "found", "-m", "scripted/solver", "--prompt-method", ask, "--show", 1)
    say("run", "found", "-m", "scripted/solver", "--yes", *_ONE)
    say("run", "found", "-m", _ANN, "--judge", "scripted/judge", "--yes")
    say("grade", "found", "--judge", "scripted/judge", "--dry-run")
    say("grade", "found", "--judge", "scripted/judge", "--yes")
    say("leaderboard", "found", "--by", "primary_category")
    say("report", "found", "-o", "found.html")
    say.page("found.html")
    say("grade", "graded.jsonl")
    say("grade", "graded.jsonl", "--judge", "scripted/judge", "-o", "grades.jsonl", "--yes")
    say.file("grades.jsonl")
    say("grade", "grades.jsonl", "--by", "basis")
    say("grade", "responses.jsonl")
    say("import", "twins.jsonl", "--as", "bank")
    say("build", "form", "twins", "--sweep", "posed=open,original,shuffled")
    say("run", "twins", "-m", "sim/ann?ability=1")
    say("report", "twins", "--analysis", "choices")


_ONE = ("--max-connections", 1)  # replies come in the order of the items


def _triples(say: Session) -> None:
    say.chapter("triples")
    say("import", "towns.jsonl", "--as", "entities")
    say("import", "known.jsonl", "--as", "reference")
    say("list", "entities")
    say("list", "reference")
    say("show", "towns")
    say("show", "known")
    for ask in ("wikidata", "schema-org-open", "two-step"):
        say("run", "towns", "-m", "scripted/talker", "--prompt-method", ask, "--show", 1)
    say("run", "towns", "-m", "scripted/talker", "--range", "5-10", "--yes", *_ONE)
    (run,) = [f"run:{run['id'][:8]}" for run in say("list", "run", "--json").json
              if "talker" in json.dumps(run)]  # fmt: skip
    say("export", run, "--what", "triples", "-o", "triples.csv")
    say.file("triples.csv")
    score = ("grade", run, "--reference", "known", "--judge", "scripted/judge", "--sample", 0)
    say(*score, "--dry-run")
    say(*score, "--yes")
    say("leaderboard", "towns")
    say("leaderboard", "towns", "--by", "source")
    say("report", "towns", "-o", "towns.html")
    say.page("towns.html")
    say("export", run, "--what", "verdicts", "-o", "verdicts.csv")
    say.file("verdicts.csv")
    say("report", "towns", "--analysis", "random")
    files = ("grade", "triples.csv", "--reference", "known.jsonl")
    say(*files, "--judge", "scripted/judge", "--sample", 0, "--show", 1)
    say(*files, "--judge", "scripted/judge", "--sample", 0, "--yes", "--tables-to", "tables")
    say.file("tables/results.csv")


def _started(say: Session) -> None:
    say.chapter("start")
    words = ("init", "--guided", "Metals", "-w", "begun", "--yes", "--license", "CC0-1.0",
             "--pilot", 2, "--questions", 6, "--writer", "scripted/author",
             "--judge", "scripted/judge", "-m", "scripted/solver")  # fmt: skip
    Path("begun").mkdir()
    Path("begun/proofstone.toml").write_bytes(Path("proofstone.toml").read_bytes())
    say("init", "begun")
    say(*words)
    for page in sorted(Path("begun").glob("*.html")):
        say.page(page.as_posix())


def _ends(say: Session) -> None:
    say.chapter("workspace")
    say("status")
    say("status", "--json")
    for kind in ("source", "bank", "form", "entities", "reference", "run", "build"):
        say("list", kind, "--json")
    say("models", "list")
    say("models", "price", "--json")
    say("doctor", "--egress")
    say("workspace", "backup", "saved.backup")
    say("workspace", "restore", "saved.backup", "restored")
    say("status", "-w", "restored")
    say("workspace", "merge", "saved.backup")
    say("workspace", "migrate")
    say("workspace", "purge", "north", "--dry-run", "--reason", "withdrawn")
    say("workspace", "purge", "north", "--yes", "--reason", "withdrawn")
    say("workspace", "repair", "metals")
    say("ingest", "Metals/north.txt", "--license", "CC0-1.0")
    say("workspace", "move", "moved", "-w", "restored")
    say("status", "-w", "moved")


_STEPS = (
    _begin, _refused, _documents, _statements_built, _bank, _forms, _plans, _runs, _read, _pages,
    _audits, _corrections, _reviews, _short_questions, _triples, _started, _ends,
)  # fmt: skip
