"""Users' Jinja templates, restricted to declared variables.

They are rendered in Jinja's immutable sandbox, from plain values, without files: they can neither
include other templates nor call into Python.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import msgspec
from msgspec import Struct

from proofstone.errors import BadInput, Problem
from proofstone.records.calls import Message
from proofstone.records.ids import digest
from proofstone.records.items import OwnPrompt
from proofstone.texts.languages import is_chinese

if TYPE_CHECKING:
    import jinja2
    from jinja2 import nodes
    from jinja2.sandbox import ImmutableSandboxedEnvironment


_OWN = ("namespace", "range")  # the Jinja globals that are useful in texts


_FILE = "<template>"  # Jinja's name for a template given as a text


class Template(Struct, frozen=True, kw_only=True):
    """A checked template: its file's ``name``, its text, and the variables it ``uses``."""

    name: str
    text: str
    uses: frozenset[str]

    def render(self, values: Mapping[str, Any]) -> str:
        """Return the text with its values. Raises BadInput with the line of an error."""
        try:
            return _compiled(self.text).render(values)
        except Exception as error:  # template expressions can raise anything
            where = _place(self.name, _line(error))
            raise BadInput(
                f"cannot render the template {self.name}", [Problem(where, str(error))]
            ) from error


def read_template(text: str, name: str, variables: Collection[str]) -> Template:
    """Return the template, checked against the ``variables`` that it may use.

    Raises BadInput with every problem and its line: invalid Jinja, undeclared variables, and tags
    that would read other files.
    """
    from jinja2 import TemplateSyntaxError  # noqa: PLC0415  # kept out of the import

    try:
        tree = _environment().parse(text)
        _compiled(text)  # unknown filters and tests are only detected here
    except TemplateSyntaxError as error:
        problem = Problem(_place(name, error.lineno), error.message or "is invalid")
        raise BadInput(f"{name} is not a valid Jinja template", [problem]) from error
    problems = sorted([*_other_files(tree), *_unknown(tree, variables)])
    if problems:
        known = ", ".join(sorted(variables))
        raise BadInput(
            f"cannot use the template {name}",
            [Problem(_place(name, line), what) for line, what in problems],
            hint=f"it may use: {known}",
        )
    return Template(name=name, text=text, uses=_undeclared(tree) & frozenset(variables))


def _other_files(tree: nodes.Template) -> Iterator[tuple[int, str]]:
    """Yield each tag that would read another file, with its line."""
    from jinja2 import nodes  # noqa: PLC0415

    reading = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
    for node in tree.find_all(reading):
        tag = {"FromImport": "from"}.get(type(node).__name__, type(node).__name__.lower())
        yield node.lineno, f"{tag} reads another file, which is not allowed"


def _unknown(tree: nodes.Template, variables: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield each undeclared variable once, with its first line."""
    from jinja2 import nodes  # noqa: PLC0415

    unknown = _undeclared(tree) - set(variables) - set(_OWN)
    first: dict[str, int] = {}
    for node in tree.find_all(nodes.Name):
        if node.ctx == "load" and node.name in unknown:
            first[node.name] = min(node.lineno, first.get(node.name, node.lineno))
    for variable, line in first.items():
        near = get_close_matches(variable, sorted(variables), n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        yield line, f"unknown variable {variable}{meant}"


def _undeclared(tree: nodes.Template) -> frozenset[str]:
    from jinja2 import meta  # noqa: PLC0415

    return frozenset(meta.find_undeclared_variables(tree))


def _place(name: str, line: int | None) -> str:
    return name if line is None else f"{name}, line {line}"


def _line(error: Exception) -> int | None:
    """Return the template line of a rendering error."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == _FILE]
    return lines[-1] if lines else None


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined  # noqa: PLC0415
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415

    # Prompts are plain text: escaping would insert entities.
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    environment.globals = {name: environment.globals[name] for name in _OWN}
    return environment


@lru_cache(maxsize=64)
def _compiled(text: str) -> jinja2.Template:
    return _environment().from_string(text)


# A template with several turns: system message, earlier turns, and the question turn.
#
# A separate line with a comment of one word, ``{# system #}``, ``{# user #}`` or
# ``{# assistant #}``, begins a turn. Without such a line the template is one user turn. The line
# ``{# answer: FORMAT #}`` sets the answer format (``choices.answer_format``). It is in no turn.

_Role = Literal["system", "user", "assistant"]


_MARK = re.compile(
    r"^[ \t]*\{#-?[ \t]*(system|user|assistant)[ \t]*-?#\}[ \t]*(?:\n|\Z)", re.MULTILINE
)


_ANSWER = re.compile(
    r"^[ \t]*\{#-?[ \t]*answer:[ \t]*(.+?)[ \t]*-?#\}[ \t]*(?:\n|\Z)", re.MULTILINE
)


class Turns(Struct, frozen=True):
    """The turns before the last one, with their roles, and the last one, which asks."""

    before: tuple[tuple[_Role, Template], ...]
    asks: Template

    def messages_before(self, values: Mapping[str, Any]) -> list[Message]:
        """Return the messages before the question. Raises BadInput as ``Template.render``."""
        return [Message(role, turn.render(values).strip("\n")) for role, turn in self.before]


def read_turns(text: str, name: str, variables: Collection[str]) -> Turns:
    """Return the turns of a template, each checked against the ``variables``.

    Raises BadInput as ``read_template``, and for an order of turns that models reject: a system
    message that is not first, or a last turn that is not the user's.
    """
    read_template(text, name, variables)  # all problems with their line in the whole file
    pieces = _MARK.split(_ANSWER.sub("", text))
    if len(pieces) == 1:
        return Turns((), read_template(pieces[0], name, variables))
    roles = cast("Sequence[_Role]", pieces[1::2])
    if pieces[0].strip():
        raise BadInput(
            f"the template {name} has text before its first turn",
            hint="begin with {# system #} or {# user #} on a separate line",
        )
    if "system" in roles[1:] or roles[-1] != "user":
        raise BadInput(
            f"the turns of {name} are {', '.join(roles)}: expected at most one system "
            "message, the first, and a user's turn at the end"
        )
    turns = [read_template(piece.rstrip("\n"), name, variables) for piece in pieces[2::2]]
    return Turns(tuple(zip(roles[:-1], turns[:-1], strict=True)), turns[-1])


def answer_format_in(text: str) -> str:
    """Return the answer format that a template sets; empty if none. Raises BadInput for two."""
    found = _ANSWER.findall(text)
    if len(found) > 1:
        raise BadInput("a template may set the answer format only once")
    return found[0] if found else ""


# Users' templates that replace a method's own prompts.


def turns_of(prompt: OwnPrompt, variables: Collection[str]) -> Turns:
    """Return the turns of a user's template, read once. Raises BadInput as ``read_turns``."""
    return _turns_read(prompt.text, prompt.name, tuple(variables))


@lru_cache(maxsize=32)
def _turns_read(text: str, name: str, variables: tuple[str, ...]) -> Turns:
    return read_turns(text, name, variables)


def check_shown(
    prompt: OwnPrompt,
    variables: Collection[str],
    enough: Sequence[tuple[str, ...]],
    lacks: str,
    of: str = "question",
) -> None:
    """Raise BadInput for a user's template with a problem, or without required variables.

    The question turn must use all of one of the sets in ``enough``; ``lacks`` names what it
    otherwise does not show, and ``of`` the kind.
    """
    uses = turns_of(prompt, variables).asks.uses
    if not any(uses.issuperset(needed) for needed in enough):
        ways = [
            f"{', '.join(needed[:-1])} and {needed[-1]}".removeprefix(" and ") for needed in enough
        ]
        raise BadInput(
            f"the template {prompt.name} does not show {lacks} it must use {', or '.join(ways)}",
            hint=f"it uses {', '.join(sorted(uses)) or f'nothing of the {of}'}; see "
            "docs/reference/formats.md",
        )


# Bundled texts: in Chinese for Chinese, else in English.

LANGUAGES: tuple[Literal["en", "zh"], ...] = ("en", "zh")

T = TypeVar("T")


@cache
def bundled_text(package: str, file: str) -> str:
    """Return the text of a file bundled with a package."""
    return files(package).joinpath(file).read_text(encoding="utf-8")


def bundled_words(package: str, file: str, language: str, kind: type[T]) -> T:
    """Return the words of a package's ``FILE.en.toml`` or ``FILE.zh.toml`` as a record."""
    code = "zh" if is_chinese(language) else "en"
    words: T = _words_read(package, f"{file}.{code}.toml", kind)  # type: ignore[arg-type]
    return words


@cache
def _words_read(package: str, file: str, kind: Any) -> Any:
    return msgspec.toml.decode(bundled_text(package, file), type=kind)


class Prompts(Struct, frozen=True):
    """The prompts of a package: ``NAME.en.jinja`` and ``NAME.zh.jinja`` in its folder
    ``prompts``.
    """

    package: str

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a prompt's template in all languages."""
        return tuple(
            bundled_text(self.package, f"prompts/{name}.{code}.jinja") for code in LANGUAGES
        )

    def key(self, name: str) -> str:
        """Return the key of a prompt for the build steps that use it."""
        return digest("\0".join(self.texts(name)).encode()).hex()

    def render(self, name: str, language: str, /, **values: Any) -> str:
        """Return a prompt for a text in this language with its values.

        The first part of the language code is available as ``language``.
        """
        text = self.texts(name)[is_chinese(language)]
        return _bundled_compiled(text).render(language=language.partition("-")[0], **values)


_NAMED = re.compile(r"\(\?&(\w+)\)")


class Patterns(Struct, frozen=True):
    """The regular expressions of a package, in its ``patterns.toml``.

    Each is the list of its parts, or a list of several; ``(?&NAME)`` inserts an earlier one.
    """

    package: str

    def one(self, name: str, flags: int = 0) -> re.Pattern[str]:
        """Return the pattern with this name, joined from its parts."""
        return re.compile("".join(_patterns_read(self.package)[name]), flags)

    def each(self, name: str) -> tuple[re.Pattern[str], ...]:
        """Return the patterns with this name."""
        return tuple(map(re.compile, _patterns_read(self.package)[name]))


@cache
def _patterns_read(package: str) -> dict[str, list[str]]:
    read: dict[str, list[str]] = {}
    said = msgspec.toml.decode(bundled_text(package, "patterns.toml"), type=dict[str, list[str]])
    for name, parts in said.items():
        read[name] = [_NAMED.sub(lambda found: "".join(read[found[1]]), part) for part in parts]
    return read


@cache
def _bundled_compiled(text: str) -> jinja2.Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    # Prompts are plain text: escaping would insert entities.
    return Environment(undefined=StrictUndefined, autoescape=False).from_string(text)  # noqa: S701
