"""Options of commands whose replies a judge may have to decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proofstone.cli.kin import judge_lines, tell_lines
from proofstone.cli.options import read_panel, with_options

if TYPE_CHECKING:
    from proofstone.stages.judging import JudgeSpec
    from proofstone.stages.run_request import RunRequest
    from proofstone.wiring import Workspace

__all__ = ["judge_options", "judges_of", "read_judges", "tell_judges"]

Command = TypeVar("Command", bound=Callable[..., Any])


def judge_options(command: Command) -> Command:
    """Adds ``--judge`` and how several decide; they arrive as ``judge``, ``votes``, ``orders``,
    ``quorum`` and ``majority``."""
    return with_options(
        click.option(
            "--judge", multiple=True, metavar="PROVIDER/NAME,...",
            help="The model that decides what no rule can; several are a panel.",
        ),
        click.option(
            "--votes", type=click.IntRange(1), default=1, show_default=True,
            help="Votes of each judge; more than half are its vote.",
        ),
        click.option(
            "--orders", type=click.IntRange(1), default=1, show_default=True,
            help="Orders of the labels in which a judge is asked; more than half decide.",
        ),
        click.option(
            "--quorum", type=click.IntRange(0), default=0, metavar="N",
            help="Judges of a panel that must have voted. Default: all of them.",
        ),
        click.option(
            "--majority", type=click.Choice(["half", "most", "all"]), default="half",
            show_default=True,
            help="What decides in a panel: more than half of the votes cast, the most, or all.",
        ),
    )(command)  # fmt: skip


def judges_of(request: RunRequest) -> JudgeSpec | None:
    """Who is to judge by a run file and the options over it; None for nobody."""
    from proofstone.wiring.judging import judge_spec  # noqa: PLC0415

    return judge_spec(request.judges or ())


def read_judges(options: dict[str, Any]) -> JudgeSpec | None:
    """Who is to judge by these options, which are taken out of them; None for nobody."""
    from proofstone.stages.judging import JudgeSpec  # noqa: PLC0415
    from proofstone.wiring.judging import judge_spec  # noqa: PLC0415

    models = tuple(read_panel(options.pop("judge")))
    rules = {name: options.pop(name) for name in ("votes", "orders", "quorum", "majority")}
    return judge_spec(JudgeSpec(models=models, **rules))


def tell_judges(
    workspace: Workspace, judges: JudgeSpec | None, contestants: Sequence[str], *, quiet: bool
) -> None:
    """Warns of judges that are kin to those whose replies they judge."""
    if judges is not None:
        tell_lines(judge_lines(workspace.kin_of_judges(judges, contestants)), quiet=quiet)
