"""``models list`` and ``models check``."""

from __future__ import annotations

from pathlib import Path

import click

from proofstone.cli.options import json_option, read_list, workspace_option
from proofstone.cli.output import print_json, print_table

__all__ = ["models_command"]


@click.group("models")
def models_command() -> None:
    """List configured models, and check that they answer.

    A model is named PROVIDER/NAME: openai/gpt-5.1, openrouter/qwen/qwen3-8b, local/FILE.gguf (runs
    here), sim/NAME?ability=0.7 (a simulated respondent). An own endpoint is an entry in
    proofstone.toml.
    """


@models_command.command("list")
@workspace_option
@json_option
def list_models(folder: Path | None, as_json: bool) -> None:
    """List the models of proofstone.toml, the known providers, and whether their keys are set."""
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        models = workspace.models()
    if as_json:
        print_json(models)
        return
    rows = [("name", "endpoint", "key")]
    rows += [(m.name, m.endpoint, m.problem or m.key_from or "none needed") for m in models]
    print_table(rows)


@models_command.command("check")
@click.argument("names", nargs=-1, required=True)
@workspace_option
@json_option
def check_models(names: tuple[str, ...], folder: Path | None, as_json: bool) -> None:
    """Ask each of NAMES one tiny question and say what came back. Exits with 5 if one fails."""
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        checks = workspace.check_models(read_list(names))
    if as_json:
        print_json(checks)
    else:
        for check in checks:
            state = "ok" if check.usable else "FAILED"
            found = f"{check.kind}: {check.detail}" if check.kind else check.served_model
            click.echo(f"{state:<7} {check.name}  {found}  {check.latency_s:.2f} s")
    if not all(check.usable for check in checks):
        click.get_current_context().exit(5)
