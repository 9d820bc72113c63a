"""Questions to judges, and their verdicts: closed labels, each vote with its reason."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

# The text that supports a verdict.


class Passage(Struct, frozen=True, gc=False, array_like=True):
    """A text about an entity: its source (``wiki``, ``web``, ...), title and address."""

    text: str
    source: str = ""
    title: str = ""
    url: str = ""


VoteState = Literal["voted", "unparsed", "failed", "split"]


Majority = Literal["most", "half", "all"]


class Label(Struct, frozen=True, gc=False):
    """A closed label: the word a judge returns, and its meaning as a clause."""

    name: str
    meaning: str


class Exhibit(Struct, frozen=True, gc=False):
    """A text to be judged and its name ("answer", "passage"). It is never an instruction."""

    name: str
    text: str


class Citing(Struct, frozen=True, gc=False):
    """The exhibits that a verdict may cite, and the labels that must cite one.

    A verdict with any other label may cite none.
    """

    names: tuple[str, ...]
    needed_for: tuple[str, ...]


class JudgeQuestion(Struct, frozen=True, gc=False, kw_only=True):
    """A question to judges.

    ``task`` is what is to be decided, in our own words; ``labels`` are two or more. ``compared``
    are indexes of ``exhibits`` whose order is arbitrary and may be permuted. ``language``: of the
    task, "en" or "zh". With ``citing`` a response also names the exhibit that it cites; a response
    that names none of them is unparsed.
    """

    task: str
    labels: tuple[Label, ...]
    exhibits: tuple[Exhibit, ...]
    compared: tuple[int, ...] = ()
    language: str = "en"
    citing: Citing | UnsetType = UNSET  # omitted from the bytes that seed the orders

    @property
    def names(self) -> tuple[str, ...]:
        """Return the labels' words."""
        return tuple(label.name for label in self.labels)


class Heard(Struct, frozen=True, gc=False, kw_only=True):
    """One response of a judge.

    ``vote`` numbers its votes from 0. ``order`` is the label-order permutation (0 as given),
    ``reask`` how often this permutation was asked before. ``label`` is empty if unparsed, with the
    reason in ``trouble``. ``listed_at`` is the position of the label in the list shown (from 0), -1
    without a label. ``cited`` is the cited exhibit, if required.
    """

    order: int
    reask: int = 0
    label: str = ""
    reason: str = ""
    trouble: str = ""
    listed_at: int = -1
    vote: int = 0
    cited: str = ""


class JudgeVote(Struct, frozen=True, gc=False, kw_only=True):
    """The vote of one judge. Only ``voted`` counts.

    ``unparsed``: no label in any permutation (of one of its votes). ``split``: different labels in
    half of them or more. ``failed``: no response (``trouble`` names the failure). ``cited``: see
    ``Heard``.
    """

    judge: str
    state: VoteState
    label: str = ""
    reason: str = ""
    trouble: str = ""
    heard: tuple[Heard, ...] = ()
    cited: str = ""


class PanelRules(Struct, frozen=True, gc=False, kw_only=True):
    """How votes are combined.

    ``quorum`` is the number of judges that must have voted. ``majority`` selects the label with the
    ``most`` votes, one with more than ``half`` of those cast, or one that ``all`` gave. ``tie`` is
    the label without such a majority (usually the cautious one), or empty: then the panel is tied
    and undecided. Judges without a vote do not count.
    """

    quorum: int = 1
    majority: Majority = "half"
    tie: str = ""


class PanelVerdict(Struct, frozen=True, gc=False, kw_only=True):
    """Result of a panel: ``label`` is empty unless ``decided``.

    ``by_rule``: the label comes from the tie rule, without a majority. ``rules`` are those applied.
    ``rests_on`` is the cited text, if one was required and is stored. A verdict without votes comes
    from a rule that asked no judge.
    """

    state: Literal["decided", "tied", "no_quorum"]
    label: str = ""
    by_rule: bool = False
    judge_votes: tuple[JudgeVote, ...] = ()
    rules: PanelRules = PanelRules()
    rests_on: Passage | UnsetType = UNSET  # not in the bytes of a verdict without one

    def votes(self) -> dict[str, int]:
        """Return how many judges gave each label."""
        found: dict[str, int] = {}
        for judge_vote in self.judge_votes:
            if judge_vote.state == "voted":
                found[judge_vote.label] = found.get(judge_vote.label, 0) + 1
        return found

    @property
    def reason(self) -> str:
        """Return the reason of the first judge who gave the label, or of the first judge if
        undecided.
        """
        for judge_vote in self.judge_votes:
            if self.label and judge_vote.state == "voted" and judge_vote.label == self.label:
                return judge_vote.reason
        if self.label:
            return ""  # no judge's: the tie rule decided
        return next((heard.reason for each in self.judge_votes for heard in each.heard), "")

    @property
    def trouble(self) -> str:
        """Return why nothing was decided; empty if something was."""
        if self.label:
            return ""
        return next((each.trouble for each in self.judge_votes if each.trouble), self.state)


class RowVerdict(Struct, frozen=True, gc=False, kw_only=True):
    """A panel's verdict in a build step: the ``question`` by name, and the verdict."""

    question: str
    verdict: PanelVerdict
