"""Builds in steps, and their funnels: what entered each step, what it kept, dropped and cost."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from proofstone.identity import content_id
from proofstone.records.spent import Spent

__all__ = ["Build", "BuildFunnel", "StepFunnel", "StepName", "build_id"]


class StepName(Struct, frozen=True, gc=False):
    """A step of a build: its key before it is known which rows reach it, and why it drops."""

    name: str
    version: int
    key: bytes
    reasons: tuple[str, ...] = ()
    is_batch: bool = False


class Build(Struct, frozen=True, gc=False, kw_only=True):
    """A pipeline over certain rows: the same steps over the same rows are the same build.

    ``inputs`` hashes the ids of the ``n_inputs`` rows in their order; ``models`` are those behind
    the roles that its steps ask, by seat (several of a panel are numbered); ``simulated``: one of
    them is made up.
    """

    id: bytes = b""
    kind: str
    method: str
    name: str = ""
    steps: tuple[StepName, ...]
    inputs: bytes
    n_inputs: int
    seed: int = 0
    params: dict[str, Any] = {}
    models: dict[str, str] = {}
    simulated: bool = False


def build_id(build: Build) -> bytes:
    """The id of a build: its kind, method, steps and inputs."""
    return content_id(
        "build", [build.kind, build.method, [step.key for step in build.steps], build.inputs]
    )


class StepFunnel(Struct, frozen=True, gc=False, kw_only=True):
    """A step in counts of rows: those that ``entered`` were kept as they were or made into others
    (``kept`` counts what came out), ``dropped`` for a reason, or are ``pending``: not worked on
    yet, or ``failed``, by kind. ``spent`` is what its calls took when they were asked."""

    name: str
    version: int
    entered: int = 0
    kept: int = 0
    dropped: dict[str, int] = {}
    pending: int = 0
    failed: dict[str, int] = {}
    spent: Spent = Spent()

    @property
    def n_dropped(self) -> int:
        """The rows that were dropped, for whatever reason."""
        return sum(self.dropped.values())


class BuildFunnel(Struct, frozen=True, gc=False):
    """A build in counts, step by step. ``n_steps`` may be more than were reached."""

    entered: int
    steps: tuple[StepFunnel, ...]
    n_steps: int

    @property
    def left(self) -> int:
        """The rows behind the last step reached; those that entered where none was."""
        return self.steps[-1].kept if self.steps else self.entered

    @property
    def pending(self) -> int:
        """The rows that are held up somewhere."""
        return sum(step.pending for step in self.steps)

    @property
    def complete(self) -> bool:
        """Whether every row is through every step, or dropped."""
        return len(self.steps) == self.n_steps and not self.pending

    @property
    def spent(self) -> Spent:
        """What the calls of all steps took."""
        return sum((step.spent for step in self.steps), Spent())
