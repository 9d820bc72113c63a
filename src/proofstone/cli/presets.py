"""``presets``: what is as published, open or different; and ``--preset`` on other commands."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from proofstone.cli.output import print_json, print_table

__all__ = ["preset_option", "presets_command", "with_preset"]

_HEADINGS = {
    "published": "As published",
    "open": "Left open by the paper",
    "ours": "Different from the paper",
}

preset_option = click.option(
    "--preset",
    metavar="NAME",
    help="Take a method's published choices, such as as-published; other options override it.",
)


@click.group("presets")
def presets_command() -> None:
    """Show published settings and where they differ here."""


@presets_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def list_presets(as_json: bool) -> None:
    """List the presets of all methods."""
    from proofstone.methods import find_method, method_names  # noqa: PLC0415

    found = [
        (name, preset) for name in method_names() for preset in find_method(name).presets.values()
    ]
    if as_json:
        print_json([{"method": name, "preset": p.name, "title": p.title} for name, p in found])
        return
    print_table([("method", "preset", "what it is"), *((n, p.name, p.title) for n, p in found)])


@presets_command.command("show")
@click.argument("method")
@click.argument("preset", default="as-published")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def show_preset(method: str, preset: str, as_json: bool) -> None:
    """Show what PRESET follows, decides and changes."""
    from proofstone.methods import find_method, find_preset  # noqa: PLC0415

    found = find_preset(find_method(method), preset)
    if as_json:
        print_json(found)
        return
    click.echo(f"{found.title}\n{found.paper}")
    for status, heading in _HEADINGS.items():
        choices = [choice for choice in found.choices if choice.status == status]
        click.echo(f"\n{heading}" if choices else f"\n{heading}\n\n  nothing")
        for choice in choices:
            set_at = f"   ({choice.at} {_flag(choice)})" if choice.parameter else ""
            click.echo(f"\n  {choice.what}{set_at}")
            click.echo(f"    paper  {choice.published} [{choice.where}]")
            click.echo(f"    here   {choice.here}")
            if choice.why:
                click.echo(f"    why    {choice.why}")


def with_preset(method: Any, name: str | None, at: str, given: dict[str, Any]) -> dict[str, Any]:
    """``given`` with a preset's values of command ``at`` where no option was typed.

    Raises NotFound for a preset that the method lacks.
    """
    from proofstone.methods import find_preset  # noqa: PLC0415

    if name is None:
        return given
    context = click.get_current_context()
    typed = {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT}
    values = find_preset(method, name).values(at)
    return given | {
        parameter: value
        for parameter, value in values.items()
        if context.get_parameter_source(parameter) not in typed
    }


def _flag(choice: Any) -> str:
    name = choice.parameter.replace("_", "-")
    if choice.value is True:
        return f"--{name}"
    if choice.value is False:
        return f"--no-{name}"
    said = choice.value if isinstance(choice.value, list) else [choice.value]
    return f"--{name} {','.join(map(str, said))}"
