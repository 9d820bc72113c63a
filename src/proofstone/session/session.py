"""An open workspace: its folder, database, clock and settings. What is done with it are functions
of the capabilities, which take a session as their first argument."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from proofstone.errors import BadUsage, NotFound
from proofstone.method import Method, find_method, find_payload
from proofstone.models.credentials import scrub
from proofstone.models.retries import SystemClock
from proofstone.records.calls import Clock
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.knowledge import Bank
from proofstone.records.reviews import Person
from proofstone.records.runs import Run
from proofstone.session.folders import MARK, create_folder, database_url, find_folder, has_own_file
from proofstone.session.permits import AskEgress, SentLog
from proofstone.store.lookup import KINDS, Found
from proofstone.store.provenance import CallTrace, ResponseTrace, ScoreTrace
from proofstone.store.scores import ScoringInfo
from proofstone.store.store import Store

if TYPE_CHECKING:
    from proofstone.models.config import ModelConfig

Held = TypeVar("Held")


class Session:
    """Hold an open workspace. Use it as a context manager, or call ``close``.

    ``ask_egress`` is called before data leaves this machine, and asks for permission if there is
    none. ``tell`` receives the progress of long operations. ``fetches_local`` permits fetching
    pages of this machine.
    """

    ask_egress: AskEgress | None = None
    tell: Callable[[str], None] | None = None
    fetches_local: bool = False

    def __init__(self, folder: Path, *, is_new: bool = False) -> None:
        self.folder = folder
        self.clock = SystemClock()
        self.store = Store(
            database_url(folder), find_payload, must_exist=not is_new and has_own_file(folder)
        )
        self._held: dict[type, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the database back, and closes what was held."""
        for each in self._held.values():
            each.close()
        self._held.clear()
        self.store.close()

    @cached_property
    def config(self) -> ModelConfig:
        """The models' settings: this folder's file, the user's, and the environment."""
        from proofstone.models.config import load_config  # noqa: PLC0415 - most need no model

        return load_config(self.folder, other_tables=frozenset({"workspace"}))

    @property
    def sent_log(self) -> SentLog:
        """Return the log of outbound data other than model calls."""
        return SentLog(self.folder / MARK)

    def find(self, target: Target, *kinds: str) -> Found:
        """The row that a text or record names; see ``Lookup.find`` for what it raises."""
        return find_target(self.store, target, kinds)

    def held(self, kind: type[Held], make: Callable[[], Held]) -> Held:
        """The one ``kind`` of this session, made when first asked for and closed with it."""
        if kind not in self._held:
            self._held[kind] = make()
        found: Held = self._held[kind]
        return found


def open_session(folder: Path | str | None = None) -> Session:
    """The workspace in ``folder``, or the nearest one at or above the current folder.

    Raises WorkspaceUnusable where there is none, SchemaTooNew where a newer version wrote it.
    """
    return Session(workspace_folder(folder))


def create_session(folder: Path | str = ".") -> Session:
    """Makes a workspace in ``folder`` (kept as it is where it is one) and opens it."""
    create_folder(Path(folder))
    return Session(Path(folder), is_new=True)


def workspace_folder(folder: Path | str | None) -> Path:
    """The folder of the workspace in ``folder``, or of the nearest one at or above it. Raises
    WorkspaceUnusable where there is none."""
    if folder is None:
        return find_folder(Path.cwd())
    path = Path(folder)
    return path if (path / MARK).is_dir() else find_folder(path)


def method_of(session: Session, target: Target) -> Method:
    """The method of a bank, form or run."""
    found = find_target(session.store, target, ("bank", "form", "run"))
    if found.kind == "bank":
        return method_of_bank(session, found)
    if found.kind == "run":
        return find_method(session.store.runs.run(found.id)[1].method)
    return find_method(session.store.items.item_set(found.id).method)


def method_of_bank(session: Session, found: Found) -> Method:
    """The method of a bank's facts."""
    return find_method(session.store.knowledge.bank(found.id).method)


# Names of rows that have no hash of their own, and how people's spelling of them is read.
#
# A response is named by what it answers, RUN/ITEM/SAMPLE, with the step behind it where that is not
# the last; a score by its SCORING/ITEM/SAMPLE/MEASURE; a call by its request's hash, with its
# number where the request was made more than once. Each part may be cut to its first digits.

T = TypeVar("T")


def response_id(response: ResponseTrace) -> str:
    """``response:2c1e77aa/9ab3c4d1/0``."""
    place = f"response:{short(response.run)}/{short(response.item)}/{response.sample}"
    return place if response.is_last else f"{place}/{response.step}"


def call_id(call: CallTrace) -> str:
    """``call:77aa12bc``, or ``call:77aa12bc/1`` for the second of a request."""
    return f"call:{short(call.request)}" + (f"/{call.number}" if call.of > 1 else "")


def score_id(score: ScoreTrace) -> str:
    """Return ``score:91ab23cd/9ab3c4d1/0/accuracy``; for an item with several units, the unit is
    appended."""
    place = f"score:{short(score.scoring)}/{short(score.item)}/{score.sample}/{score.measure}"
    return f"{place}/{short(score.unit_key)}" if score.unit_key else place


def find_response(store: Store, text: str) -> ResponseTrace:
    """The response that ``RUN/ITEM``, with sample and step where they are needed, names.

    Raises NotFound where it has none (naming a failed call, where there is one), and BadUsage
    listing those that fit where there are several.
    """
    run, item, more = _two_rows(store, text, "run", "RUN/ITEM/SAMPLE")
    fitting = store.traces.responses(run.key, item.key)
    if more and more[0]:
        fitting = [each for each in fitting if str(each.sample) == more[0]]
    if len(more) > 1:
        fitting = [each for each in fitting if each.step == more[1]]
    elif len({each.sample for each in fitting}) == 1:
        fitting = [each for each in fitting if each.is_last] or fitting
    if not fitting:
        failed = store.traces.failed_calls(run.key, item.key)
        hint = f"a call for it failed: {call_id(store.traces.call(failed[-1]))}" if failed else ""
        raise NotFound(f"no response is named {text!r}", hint=hint or _look(run))
    return _only(fitting, text, response_id)


def find_score(store: Store, text: str) -> tuple[ScoringInfo, ScoreTrace, Found]:
    """The scoring and score that ``SCORING/ITEM/SAMPLE/MEASURE`` names, and its item. A run in the
    place of the scoring means its current one."""
    head = text.partition("/")[0]
    kind = "run" if head.startswith("run:") else "scoring"
    first, item, more = _two_rows(store, text, kind, "SCORING/ITEM/SAMPLE/MEASURE")
    scoring = _current(store, first) if kind == "run" else store.scores.one(first.id)
    fitting = store.traces.scores(scoring.key, item.key)
    tests: list[Callable[[ScoreTrace, str], bool]] = [
        lambda score, part: str(score.sample) == part,
        lambda score, part: score.measure == part,
        lambda score, part: score.unit_key.hex().startswith(part),
    ]
    for part, fits in zip(more, tests, strict=False):
        fitting = [score for score in fitting if fits(score, part)]
    if not fitting:
        raise NotFound(f"no score is named {text!r}", hint=_look(first))
    return scoring, _only(fitting, text, score_id), item


def find_call(store: Store, text: str) -> CallTrace:
    """The call that the first digits of its request's hash name, with its number where needed."""
    digits, _slash, number = text.partition("/")
    if not 4 <= len(digits) <= 64 or set(digits) - set("0123456789abcdef"):
        raise BadUsage(
            f"invalid call ID {text!r}", hint="expected call: and 4 or more hexadecimal digits"
        )
    low, high = bytes.fromhex(digits.ljust(64, "0")), bytes.fromhex(digits.ljust(64, "f"))
    fitting = store.traces.calls(low, high)
    if number:
        fitting = [call for call in fitting if str(call.number) == number]
    if not fitting:
        raise NotFound(f"no call is named {text!r}", hint="'proofstone show RESPONSE' names it")
    return _only(fitting, text, call_id)


def _two_rows(store: Store, text: str, kind: str, form: str) -> tuple[Found, Found, list[str]]:
    parts = text.removeprefix("run:").split("/")
    if len(parts) < 2 or not all(parts[:2]):
        raise BadUsage(f"invalid ID {text!r}", hint=f"expected {form}, as 'show' prints it")
    first = store.lookup.find(f"{kind}:{parts[0].removeprefix(f'{kind}:')}")
    item = store.lookup.find(f"item:{parts[1].removeprefix('item:')}")
    return first, item, parts[2:]


def _current(store: Store, run: Found) -> ScoringInfo:
    current = store.scores.current(run.key)
    if current is None:
        raise NotFound(f"run {short(run.id)} is not scored", hint="proofstone grade RUN")
    return current


def _only(fitting: Sequence[T], text: str, named: Callable[[T], str]) -> T:
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(named(each) for each in fitting[:8])
    more = "" if len(fitting) <= 8 else f" and {len(fitting) - 8} more"
    raise BadUsage(f"{text!r} names {len(fitting)} rows: {listed}{more}", hint="name one of them")


def _look(found: Found) -> str:
    return f"Next: proofstone show {found.kind}:{short(found.id)}"


Target = str | Found | Bank | ItemSet | Run


def find_target(store: Store, target: Target, kinds: tuple[str, ...]) -> Found:
    """The row that ``target`` means, of one of ``kinds`` (of any, where none is named)."""
    if isinstance(target, Found):
        return target
    if isinstance(target, str):
        return store.lookup.find(target, kinds or KINDS)
    kind = {Bank: "bank", ItemSet: "form", Run: "run"}[type(target)]
    return store.lookup.find(f"{kind}:{target.id.hex()}")


def listed(value: Any) -> list[Any]:
    """One value or several, as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]


def response_name(run: bytes, item: bytes, sample: int) -> str:
    """How people name the response to an item in a run: ``2c1e77aa/9ab3c4d1/0``."""
    return f"{short(run)}/{short(item)}/{sample}"


# Who acts, corrects or purges, and why: a person behind a random actor id, a reason without
# secrets.

ACTOR_VARIABLE = "PROOFSTONE_ACTOR"


def acting_name(by: str | None) -> str:
    """``by``, or who acts where it is empty. Raises BadUsage where this login has no name."""
    named = by or os.environ.get(ACTOR_VARIABLE, "")
    if named:
        return named
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container's number
        raise BadUsage(
            "your name is unknown", hint=f"add --actor NAME, or set {ACTOR_VARIABLE}"
        ) from None


def acting(session: Session, by: str = "") -> Person:
    """Return the acting person by name or id (default: the current user). A new name is added, so
    call this after all checks."""
    return acting_person(session.store, acting_name(by), session.clock)


def acting_person(store: Store, name: str, clock: Clock) -> Person:
    """The person of this name, or whose actor id starts with these digits; a new name is added.

    Raises BadUsage for no name, and where several people have it.
    """
    name = name.strip()
    if not name:
        raise BadUsage("missing name of the person who corrects", hint="add --actor NAME")
    known = _by_digits(store, name) or store.people.of_name(name)
    return _the_one(known, name) if known else store.people.add(name, clock.now())


def find_person(store: Store, name: str) -> Person:
    """As ``acting_person``, of people who are known here. Raises NotFound."""
    known = store.people.of_name(name) or _by_digits(store, name)
    if not known:
        names = ", ".join(f"{p.name} ({short(p.actor)})" for p in store.people.every()[:8])
        raise NotFound(
            f"person {name!r} not found",
            hint=f"known: {names}" if names else "no person is known yet",
        )
    return _the_one(known, name)


def erase_person(session: Session, name: str) -> Person:
    """Delete a person's name and details, and return the person; rows keep the random actor id.
    Raises NotFound for an unknown person."""
    person = find_person(session.store, name)
    session.store.people.erase(person.actor)
    return person


def stated_reason(reason: str, of: str = "a correction") -> str:
    """The reason ``of`` what is done, as it is stored; BadUsage where none is given."""
    if not reason.strip():
        raise BadUsage(f"{of} needs its reason", hint='add --reason "..."')
    return scrub(reason.strip())


def _by_digits(store: Store, name: str) -> list[Person]:
    is_hex = 4 <= len(name) <= 64 and all(c in "0123456789abcdef" for c in name)
    return store.people.like(name) if is_hex else []


def _the_one(known: list[Person], name: str) -> Person:
    if len(known) > 1:
        actors = ", ".join(short(person.actor) for person in known)
        raise BadUsage(f"{len(known)} people are known as {name!r}: {actors}", hint="name the id")
    return known[0]
