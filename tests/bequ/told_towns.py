"""A small country told in free text: a wiki of it, models that know it so well, and a judge whose
errors are known.

All that is so stands in ``FACTS``; articles say it in sentences. Models that are asked about a town
say some of it, some of it wrongly, and some of what no article tells. The judge reads what it is
shown and is then wrong at the rates of its ``Errs``, by the words of the triple alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from asked_entities import asked_entity

from ingest.dump_files import dump, page
from ingest.zim_files import zim
from proofstone.records.ids import digest
from scripted_server import Act, Seen, answer

__all__ = [
    "FACTS", "MODELS", "NAMES", "Country", "Errs", "Said", "made_dump", "made_zim", "said_by",
]  # fmt: skip

_ROOTS = ("Alden", "Bram", "Corl", "Dunmor", "Elst", "Farl", "Grim", "Hask", "Ister", "Jarn")
NAMES = [f"{root}{end}" for end in ("ford", "wick") for root in _ROOTS]
_SYLLABLES = ("ba", "do", "ki", "lu", "ma", "ne", "ro", "sa", "ti", "vo")
# Of each kind of fact: its predicate, the sentence that states it, and how a model words it.
_KINDS: Mapping[str, tuple[str, str]] = {
    "river": ("{name} lies on the river {value}.", "watercourse"),
    "mayor": ("The mayor of {name} is {value}.", "headOfTown"),
    "founder": ("{name} was founded by {value}.", "establishedBy"),
    "county": ("{name} belongs to the county of {value}.", "partOfCounty"),
    "twin": ("{name} is twinned with {value}.", "partnerTown"),
    "patron": ("The patron of {name} is {value}.", "patron"),
    "bridge": ("The old bridge of {name} was built by {value}.", "bridgeBuilder"),
    "school": ("The school of {name} is named after {value}.", "schoolNamedAfter"),
    "dish": ("A dish of {name} is called {value}.", "dish"),
    "hill": ("The highest hill of {name} is {value}.", "highestHill"),
    "guild": ("The oldest guild of {name} is that of {value}.", "oldestGuild"),
    "market": ("The market of {name} is held on {value}.", "marketPlace"),
}
_FILLER = "Visitors note that number {n} of its houses looks much like all the others there."
_SENTENCES = {
    predicate: re.compile(re.escape(text).replace(r"\{name\}", "(?P<name>.+)").replace(
        r"\{value\}", "(?P<value>.+?)"))
    for predicate, (text, _worded) in _KINDS.items()
}  # fmt: skip
_WORDED = {worded: predicate for predicate, (_text, worded) in _KINDS.items()}


def _value(name: str, predicate: str, other: str = "") -> str:
    code = digest(f"{name} {predicate} {other}".encode())
    return "".join(_SYLLABLES[byte % 10] for byte in code[:4]).capitalize()


FACTS = {(name, predicate): _value(name, predicate) for name in NAMES for predicate in _KINDS}


def _article(name: str) -> str:
    """More than 2,000 characters: what is so of a town, among what says nothing."""
    told = [_KINDS[kind][0].format(name=name, value=_value(name, kind)) for kind in _KINDS]
    return " ".join(f"{fact} {_FILLER.format(n=n)} {_FILLER.format(n=n + 50)}" for n, fact in
                    enumerate(told, start=1))  # fmt: skip


def made_dump(folder: Path) -> Path:
    """A dump with an article each, a short one, one of meanings, and a redirect."""
    pages = [page(name, _article(name), number=n) for n, name in enumerate(NAMES, start=10)]
    return dump(
        folder / "country.xml.bz2",
        *pages,
        page("Little", "A hamlet.", number=1),
        page("Ford", f"{{{{disambiguation}}}}{_article('Ford')}", number=2),
        page("Old Aldenford", "#REDIRECT [[Aldenford]]", redirect="Aldenford", number=3),
    )


def made_zim(folder: Path) -> Path:
    """The same articles as an archive."""
    texts = {name: _article(name) for name in NAMES} | {"Little": "A hamlet."}
    rows = [
        ("C", name, name, "text/html", f"<p>{text}</p>".encode()) for name, text in texts.items()
    ]
    rows += [("M", "Date", "", "text/plain", b"2024-02-03")]
    return zim(folder / "country.zim", [*rows, ("M", "Language", "", "text/plain", b"eng")])


# ---------------------------------------------------------------- what models say


class Said(NamedTuple):
    """A triple that a model says of a town, and what is so of it."""

    name: str
    predicate: str
    object: str
    truth: str

    @property
    def words(self) -> str:
        """What the judge's errors rest on."""
        return f"{self.name}|{self.predicate}|{self.object}"


# Of the twelve kinds of a town, turned by its number: how many are said rightly, and how many
# wrongly; and of how many of four towns anything is said at all.
MODELS: Mapping[str, tuple[int, int, int]] = {"scholar": (8, 2, 4), "babbler": (5, 6, 3)}


def said_by(model: str, name: str) -> list[Said]:
    """What a model says of a town; half of it in words of its own. Last, what nobody wrote of."""
    right, wrong, of_four = MODELS[model]
    number = NAMES.index(name)
    if number % 4 >= of_four:
        return []
    kinds = list(_KINDS)
    turned = kinds[number % 12 :] + kinds[: number % 12]
    found = []
    for place, kind in enumerate(turned[: right + wrong]):
        predicate = kind if place % 2 else _KINDS[kind][1]
        is_right = place < right
        value = FACTS[name, kind] if is_right else _value(name, kind, model)
        found.append(Said(name, predicate, value, "entailment" if is_right else "contradiction"))
    return [*found, Said(name, "nickname", _value(name, "nickname"), "neutral")]


def _response(model: str, name: str) -> str:
    said = said_by(model, name)
    rows = [{"subject": each.name, "predicate": each.predicate, "object": each.object}
            for each in said]  # fmt: skip
    text = json.dumps(rows + rows[:1])  # one of them is said again
    number = NAMES.index(name)
    if rows and number % 5 == 0:
        return f"Here is what I know:\n{text[:-1]},\n"  # never closed
    return text.replace('"', "'") if rows and number % 5 == 1 else text


# ---------------------------------------------------------------- the models behind the endpoint


class Errs(NamedTuple):
    """How often the judge takes one label for another: what is entailed for neutral, what is not
    for entailed, what is covered for not covered, and the other way."""

    misses: float = 0.0
    believes: float = 0.0
    overlooks: float = 0.0
    imagines: float = 0.0

    def label(self, truth: str, words: str) -> str:
        """What the judge says of a triple that is so."""
        rates = {"entailment": self.misses, "covered": self.overlooks, "not covered": self.imagines}
        rate = rates.get(truth, self.believes)
        if int.from_bytes(digest(f"err {truth} {words}".encode())[:2], "big") >= 65_536 * rate:
            return truth
        wrong = {"entailment": "neutral", "covered": "not covered", "not covered": "covered"}
        return wrong.get(truth, "entailment")


class Country:
    """Every model of the chain, by its name; ``asked`` counts what each was asked."""

    def __init__(self, errs: Errs) -> None:
        self.errs = errs
        self.asked: dict[str, int] = {}

    def __call__(self, seen: Seen) -> Act:
        model, prompt = seen.json["model"], seen.json["messages"][-1]["content"]
        self.asked[model] = self.asked.get(model, 0) + 1
        if model == "author":
            return answer(_taken(prompt))
        if model == "rater":
            return answer(json.dumps(_RATED))
        if model == "judge":
            return answer(json.dumps(self._judged(prompt)))
        return answer(_response(model, asked_entity(seen)))

    def _judged(self, prompt: str) -> dict[str, str]:
        said = _TRIPLE.search(prompt)
        assert said is not None, prompt
        is_recall = said["what"] == "reference fact"
        find = _covering if is_recall else _settling
        truth, rests_on = find(prompt, said["subject"], said["predicate"], said["object"])
        words = f"{said['subject']}|{said['predicate']}|{said['object']}"
        shown = "statement 1" if is_recall else "passage 1"
        label = self.errs.label(truth, words)
        return {"reason": f"it is {truth}", "rests_on": rests_on or shown, "label": label}


_RATED = {"informative": 5, "clear": 4, "suitable": 5, "domains": ["location"]}
_TRIPLE = re.compile(
    r"\[(?P<what>triple|reference fact) \| begin \w+\]\n"
    r"subject: (?P<subject>.*)\npredicate: (?P<predicate>.*)\nobject: (?P<object>.*)\n"
)
_SHOWN = re.compile(r"\[((?:passage|statement) \d+) \| begin \w+\]\n(.*?)\n\[\1 \| end", re.DOTALL)
_ENTITY = re.compile(r"What it is about: (.*)\n")
_PASSAGE = re.compile(r"\[passage \| begin \w+\]\n(.*?)\n\[passage \| end", re.DOTALL)


def _sentences(text: str) -> Sequence[tuple[str, str, str]]:
    """Name, predicate and value of each sentence that states a fact."""
    parts = re.split(r"(?<=\.) ", text)
    found = [(rule.fullmatch(part), kind) for part in parts for kind, rule in _SENTENCES.items()]
    return [(each["name"], kind, each["value"]) for each, kind in found if each is not None]


def _taken(prompt: str) -> str:
    """The facts that a passage states, as the author of a reference takes them."""
    name, passage = _ENTITY.search(prompt), _PASSAGE.search(prompt)
    assert name is not None, prompt
    assert passage is not None, prompt
    rows = [
        {"subject": name[1], "predicate": kind, "object": value}
        for of, kind, value in _sentences(passage[1])
        if of == name[1]
    ]
    return json.dumps(rows)


def _settling(prompt: str, name: str, predicate: str, value: str) -> tuple[str, str]:
    """The label that the passages give, and the one that gives it."""
    wanted = _WORDED.get(predicate, predicate)
    for shown, text in _SHOWN.findall(prompt):
        for of, kind, known in _sentences(text):
            if (of, kind) == (name, wanted):
                return ("entailment" if known == value else "contradiction"), shown
    return "neutral", ""


def _covering(prompt: str, _name: str, predicate: str, value: str) -> tuple[str, str]:
    """Whether a statement says the fact, and which."""
    for shown, text in _SHOWN.findall(prompt):
        said = dict(line.split(": ", 1) for line in text.splitlines())
        if (_WORDED.get(said["predicate"], said["predicate"]), said["object"]) == (
            predicate,
            value,
        ):
            return "covered", shown
    return "not covered", ""
