"""The recipe of a form: every parameter of composition, completed and checked.

A form holds multiple-choice questions, or (setting ``statements``) single statements to be called
true or false. The recipe of the first has no ``setting``: it is older, and its id must stay.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from proofstone.choices.options import MOST_OPTIONS, MOST_PLACES, MOST_TOGETHER, distractor_supply
from proofstone.errors import BadUsage
from proofstone.methods.encyclo_k.payloads import default_recipe
from proofstone.records.items import ItemSet
from proofstone.records.options import Parameter

COMPOSER = 1  # raised by every change that makes other questions of the same seed and parameters


STATEMENT_COMPOSER = 1  # the same for forms of single statements


Setting: TypeAlias = Literal["questions", "statements"]


Level: TypeAlias = Literal["discipline", "field", "subfield", "book"]


LEVELS: tuple[Level, ...] = ("discipline", "field", "subfield", "book")


_DEFAULTS = default_recipe()


_RANGE = re.compile(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?")


_MOST_QUESTIONS = 1_000_000_000


PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        name="setting",
        kind="choice",
        default="questions",
        choices=("questions", "statements"),
        help="What is asked: multiple-choice questions composed of statements, or the statements "
        "themselves, each to be called true or false. The second takes --sample alone.",
    ),
    Parameter(
        name="sample",
        kind="int",
        default=None,
        help="With --setting statements: a sample of this many, in proportion to books and to "
        "true and false ones; else all of the bank.",
    ),
    Parameter(
        name="statements",
        kind="range",
        default=_DEFAULTS["statements"],
        help=f"Statements in a question, uniform over the range; at most {MOST_PLACES}.",
    ),
    Parameter(
        name="options",
        kind="range",
        default=_DEFAULTS["options"],
        help=f"Options of a question, uniform over the range; 2 to {MOST_OPTIONS}.",
    ),
    Parameter(
        name="combination",
        kind="range",
        default=_DEFAULTS["combination"],
        help="Statements in an option, the right one and the others, each uniform over the "
        f"range; at most {MOST_TOGETHER}.",
    ),
    Parameter(
        name="correct_share",
        kind="float",
        default=_DEFAULTS["correct_share"],
        help="Share of questions that ask for the correct statements; the others ask for the "
        "incorrect ones.",
    ),
    Parameter(
        name="base",
        kind="int",
        default=_DEFAULTS["base"],
        help="Questions before rounding: each book gets its part in proportion to its correct "
        "statements, rounded up.",
    ),
    Parameter(
        name="questions",
        kind="int",
        default=None,
        help="Exactly this many questions instead, in the same proportion by largest remainder.",
    ),
    Parameter(
        name="allocate",
        kind="choice",
        default=_DEFAULTS["allocate"],
        choices=LEVELS,
        help="Level at which questions are allocated and rounded; the same as WITHIN or finer.",
    ),
    Parameter(
        name="within",
        kind="choice",
        default=_DEFAULTS["within"],
        choices=LEVELS,
        help="All statements of a question come from one such group (and one language).",
    ),
    Parameter(
        name="forbid_subsets",
        kind="flag",
        default=_DEFAULTS["forbid_subsets"],
        help="Let no option be a proper subset of another.",
    ),
    Parameter(
        name="siblings",
        kind="flag",
        default=_DEFAULTS["siblings"],
        help="Let statements of one origin stand in one question: a correct one beside its own "
        "falsification, as the paper does, or two falsifications of it. Off, because the pair "
        "gives the answer away by contrast: it shows where to look, and that one of them is false.",
    ),
    Parameter(
        name="skip_small",
        kind="flag",
        default=_DEFAULTS["skip_small"],
        help="Leave out groups with too few statements, rather than refuse the bank.",
    ),
)


_OF_STATEMENTS = frozenset({"setting", "sample"})


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A checked recipe. Ranges are inclusive pairs; ``questions`` overrules ``base``."""

    composer: int
    statements: tuple[int, int]
    options: tuple[int, int]
    combination: tuple[int, int]
    correct_share: float
    base: int
    questions: int | None
    allocate: Level
    within: Level
    forbid_subsets: bool
    siblings: bool
    skip_small: bool

    @property
    def sizes(self) -> range:
        """The sizes that an option may have."""
        return range(self.combination[0], self.combination[1] + 1)


def recipe(params: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters as plain JSON values, completed by the defaults, with the composer's version.

    A complete recipe comes back as it is. Raises BadUsage naming every parameter that cannot be.
    """
    problems: list[str] = []
    known = {parameter.name: parameter for parameter in PARAMETERS}
    setting: Setting = _read(known["setting"], params, problems) or "questions"
    own = _OF_STATEMENTS if setting == "statements" else known.keys() - _OF_STATEMENTS
    unknown = [name for name in params if name not in known and name != "composer"]
    if unknown:
        problems.append(f"no parameter {', '.join(unknown)}; there is {', '.join(known)}")
    current = STATEMENT_COMPOSER if setting == "statements" else COMPOSER
    version = params.get("composer", current)
    if version != current:
        problems.append(f"composer {version!r} made this recipe; this version has {current}")
    foreign = known.keys() - own - {"setting"}
    problems += [
        f"{name}: not with setting {setting}"
        for name in known
        if name in foreign and _read(known[name], params, []) != _read(known[name], {}, [])
    ]
    values = {name: _read(known[name], params, problems) for name in known if name in own}
    if not problems and setting == "questions":
        problems = _contradictions(values)
    if problems:
        raise BadUsage("\n  ".join(["The form's parameters cannot be:", *problems]))
    return {"composer": current, **values}


def is_composed(item_set: ItemSet) -> bool:
    """Whether it is known which statements a set's questions are made of: those of a bank's form,
    and of the export of one."""
    return item_set.kind != "imported" or "composer" in item_set.recipe


def is_of_statements(plain: Mapping[str, Any]) -> bool:
    """Whether a recipe is of single statements rather than of composed questions."""
    return plain.get("setting") == "statements"


def read_recipe(plain: Mapping[str, Any]) -> Recipe:
    """The recipe of plain values as ``recipe`` gives them, checked again and typed."""
    return msgspec.convert(recipe(plain), Recipe)


def _read(parameter: Parameter, params: Mapping[str, Any], problems: list[str]) -> Any:
    """One parameter's value as plain JSON; its default where it is not given (or is None)."""
    value = params.get(parameter.name)
    if value is None:
        return list(parameter.default) if parameter.kind == "range" else parameter.default
    if parameter.kind == "range":
        read: Any = _pair(value)
        expected = "a number or LOW-HIGH"
    elif parameter.kind == "choice":
        read = value if value in parameter.choices else None
        expected = " or ".join(parameter.choices)
    elif parameter.kind == "flag":
        read = value if isinstance(value, bool) else None
        expected = "true or false"
    elif parameter.kind == "float":
        read = _share(value)
        expected = "a number from 0 to 1"
    else:
        read = _count(value)
        expected = f"a whole number from 1 to {_MOST_QUESTIONS:,}"
    if read is None:
        problems.append(f"{parameter.name}: expected {expected}, got {value!r}")
    return read


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    return value if _is_whole(value) and 1 <= value <= _MOST_QUESTIONS else None


def _share(value: Any) -> float | None:
    try:
        share = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
    return share if 0 <= share <= 1 else None


def _pair(value: Any) -> list[int] | None:
    """LOW-HIGH, a single number or a pair, as [low, high] with 1 <= low <= high."""
    if isinstance(value, str):
        found = _RANGE.fullmatch(value)
        value = [int(found[1]), int(found[2] or found[1])] if found else None
    elif _is_whole(value):
        value = [value, value]
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(map(_is_whole, value)):
        return None
    return list(value) if 1 <= value[0] <= value[1] else None


def _contradictions(values: Mapping[str, Any]) -> list[str]:
    """What the parameters, each good by itself, cannot be together."""
    fewest, most = values["statements"]
    _, largest = values["combination"]
    least_options, most_options = values["options"]
    found = []
    if most > MOST_PLACES:
        found.append(f"statements: at most {MOST_PLACES}, got {most}")
    if largest > MOST_TOGETHER:
        found.append(f"combination: at most {MOST_TOGETHER}, got {largest}")
    if largest >= fewest:
        found.append(
            f"combination: {largest} of {fewest} statements leaves none of the other polarity; "
            "take smaller combinations or more statements"
        )
    if least_options < 2 or most_options > MOST_OPTIONS:
        found.append(f"options: 2 to {MOST_OPTIONS}, got {least_options}-{most_options}")
    if LEVELS.index(values["allocate"]) < LEVELS.index(values["within"]):
        found.append(
            f"allocate: {values['allocate']} is coarser than within, {values['within']}; "
            "a question belongs to one group only"
        )
    return found or _too_many_options(values)


def _too_many_options(values: Mapping[str, Any]) -> list[str]:
    """The fewest statements give the fewest distractors; the gold sets' sizes are all tried."""
    fewest, _ = values["statements"]
    smallest, largest = values["combination"]
    sizes = range(smallest, largest + 1)
    forbid = values["forbid_subsets"]
    supply = min(distractor_supply(fewest, gold, sizes, forbid_subsets=forbid) for gold in sizes)
    if values["options"][1] <= supply + 1:
        return []
    rule = ", none a subset of another," if forbid else ""
    return [
        f"options: {fewest} statements in combinations of {smallest}-{largest}{rule} give at most "
        f"{supply + 1} options, got {values['options'][1]}"
    ]
