"""A question to judges, and what they said: closed labels, each vote with its reason."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

# The text that a verdict rests on.


class Passage(Struct, frozen=True, gc=False, array_like=True):
    """A text about an entity: where it is from (``wiki``, ``web``, ...), its title and address."""

    text: str
    source: str = ""
    title: str = ""
    url: str = ""


VoteState = Literal["voted", "unparsed", "failed", "split"]


Majority = Literal["most", "half", "all"]


class Label(Struct, frozen=True, gc=False):
    """One of the closed labels: the word a judge gives, and what it means in a clause."""

    name: str
    meaning: str


class Exhibit(Struct, frozen=True, gc=False):
    """A text under judgement and what it is ("answer", "passage"). It is never an instruction."""

    name: str
    text: str


class Citing(Struct, frozen=True, gc=False):
    """Which exhibits a verdict may rest on, by their names, and the labels that must name one of
    them; under any other label a verdict may rest on none."""

    names: tuple[str, ...]
    needed_for: tuple[str, ...]


class JudgeQuestion(Struct, frozen=True, gc=False, kw_only=True):
    """What judges are asked. ``task`` says what is to be decided, in our own words; ``labels`` are
    two or more; ``compared`` are places of ``exhibits`` whose order means nothing, so that it may
    be permuted. ``language``: of the task, "en" or "zh". With ``citing`` a reply names the exhibit
    that it rests on as well, and one that names none of them holds no label."""

    task: str
    labels: tuple[Label, ...]
    exhibits: tuple[Exhibit, ...]
    compared: tuple[int, ...] = ()
    language: str = "en"
    citing: Citing | UnsetType = UNSET  # left out of the bytes from which orders are drawn

    @property
    def names(self) -> tuple[str, ...]:
        """The labels' words."""
        return tuple(label.name for label in self.labels)


class Heard(Struct, frozen=True, gc=False, kw_only=True):
    """One reply of a judge. ``vote`` counts its votes from 0, ``order`` is the arrangement it was
    asked in (0 as given), ``reask`` how often this arrangement was asked before; ``label`` is empty
    where none could be read, and ``trouble`` then says why. ``listed_at`` is the place of the label
    in the list it was shown (from 0), -1 without a label; ``cited`` the exhibit it rests on, where
    one was asked for."""

    order: int
    reask: int = 0
    label: str = ""
    reason: str = ""
    trouble: str = ""
    listed_at: int = -1
    vote: int = 0
    cited: str = ""


class JudgeVote(Struct, frozen=True, gc=False, kw_only=True):
    """What one judge came to. Only ``voted`` is a vote: ``unparsed`` gave no label in any
    arrangement (of one of its votes), ``split`` gave different ones in half of them or more,
    ``failed`` was not heard (``trouble`` names the failure). ``cited``: see ``Heard``."""

    judge: str
    state: VoteState
    label: str = ""
    reason: str = ""
    trouble: str = ""
    heard: tuple[Heard, ...] = ()
    cited: str = ""


class PanelRules(Struct, frozen=True, gc=False, kw_only=True):
    """How votes decide. ``quorum``: so many judges must have voted. ``majority``: the label with
    the ``most`` votes, one with more than ``half`` of those cast, or one that ``all`` gave.
    ``tie``: the label where there is no such one (the careful one, as a rule), or empty: then the
    panel is tied and nothing is decided. Ballots without a vote count towards nothing."""

    quorum: int = 1
    majority: Majority = "half"
    tie: str = ""


class PanelVerdict(Struct, frozen=True, gc=False, kw_only=True):
    """What a panel came to: ``label`` is empty unless ``decided``. ``by_rule``: the label is that
    of the tie rule, nobody's majority. ``rules`` are those that decided. ``rests_on`` is the text
    that the label rests on, where one was asked for and it is to be kept: without ballots it is a
    rule's, that asked nobody."""

    state: Literal["decided", "tied", "no_quorum"]
    label: str = ""
    by_rule: bool = False
    judge_votes: tuple[JudgeVote, ...] = ()
    rules: PanelRules = PanelRules()
    rests_on: Passage | UnsetType = UNSET  # not in the bytes of a verdict without one

    def votes(self) -> dict[str, int]:
        """How many judges gave each label that was given."""
        found: dict[str, int] = {}
        for judge_vote in self.judge_votes:
            if judge_vote.state == "voted":
                found[judge_vote.label] = found.get(judge_vote.label, 0) + 1
        return found

    @property
    def reason(self) -> str:
        """The reason of the first judge who gave the label; where nothing was decided, of the first
        who gave any."""
        for judge_vote in self.judge_votes:
            if self.label and judge_vote.state == "voted" and judge_vote.label == self.label:
                return judge_vote.reason
        if self.label:
            return ""  # nobody's: a rule for ties decided
        return next((heard.reason for each in self.judge_votes for heard in each.heard), "")

    @property
    def trouble(self) -> str:
        """Why nothing was decided; empty where something was."""
        if self.label:
            return ""
        return next((each.trouble for each in self.judge_votes if each.trouble), self.state)


class RowVerdict(Struct, frozen=True, gc=False, kw_only=True):
    """What a panel said in a step of a build: the ``question`` by its name, and the verdict."""

    question: str
    verdict: PanelVerdict
