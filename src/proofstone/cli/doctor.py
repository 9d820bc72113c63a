"""``doctor``: what is installed and set up here, where things go wrong, and what was sent."""

from __future__ import annotations

from pathlib import Path

import click

from proofstone.cli.doctor_config import show_config
from proofstone.cli.egress import TerminalEgress
from proofstone.cli.findings import Finding, find_all
from proofstone.cli.options import json_option, read_list, workspace_option
from proofstone.cli.output import print_json, say

__all__ = ["doctor_command"]


@click.command("doctor")
@click.argument("run_words", nargs=-1, metavar="[-- RUN...]")
@click.option("--config", is_flag=True, help="Show each setting in force and where it comes from.")
@click.option("--online", is_flag=True, help="Ask each model once, and say at which step it fails.")
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="PROVIDER/NAME",
    help="With --online: these models or searches (brave, google, searxng), not all that are "
    "configured.",
)
@click.option("--egress", is_flag=True, help="List all that was ever sent, by host.")
@click.option(
    "--bundle",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a zip for a report of a fault: no keys, prompts or replies.",
)
@workspace_option
@json_option
def doctor_command(
    run_words: tuple[str, ...],
    config: bool,
    online: bool,
    models: tuple[str, ...],
    egress: bool,
    bundle: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Check this installation and workspace, and say what to mend.

    Reaches no network, but for --online: that sends each model one short fixed question, by the way
    that a run takes, and each search of the web that is set up a short fixed query. It tells
    settings, policy, proxy, DNS, connection, certificate, address, key and model apart. Exits with
    2 where something needed is not well, with 5 where a model or search is not.

    With --config, what a run command would use: write its words behind a double hyphen, as in
    'proofstone doctor --config -- run.toml -m openai/gpt-5.1 --max-tokens 99'. Each setting stands
    with the flag, file and line, variable or default that said it; keys read ***.
    """
    if config + online + egress + (bundle is not None) > 1:
        raise click.UsageError("one of --config, --online, --egress and --bundle at a time")
    if run_words and not config:
        raise click.UsageError("the words of a run are for --config")
    if models and not online:
        raise click.UsageError("-m goes with --online")
    code = 0
    if config:
        show_config(run_words, folder, as_json=as_json)
    elif online:
        code = _online(folder, read_list(models), as_json=as_json)
    elif egress:
        code = _egress(folder, as_json=as_json)
    elif bundle is not None:
        code = _bundle(folder, bundle, as_json=as_json)
    else:
        code = _findings(find_all(folder), as_json=as_json)
    click.get_current_context().exit(code)


def _findings(findings: list[Finding], *, as_json: bool) -> int:
    if as_json:
        print_json(findings)
    else:
        for finding in findings:
            state = "ok" if finding.well else ("MEND" if finding.needed else "absent")
            click.echo(f"{state:<7} {finding.name:<18} {finding.found}".rstrip())
            if finding.advice and not finding.well:
                click.echo(f"{'':<7} {'':<18} {finding.advice}")
    return 2 if any(finding.needed and not finding.well for finding in findings) else 0


def _online(folder: Path | None, names: list[str], *, as_json: bool) -> int:
    from proofstone.cli.diagnosis_text import online_lines  # noqa: PLC0415
    from proofstone.wiring.diagnosis import look_online  # noqa: PLC0415

    found = look_online(folder, names, TerminalEgress())
    if as_json:
        print_json(found)
    else:
        for line in online_lines(found):
            click.echo(line)
    if not found:
        say("no model or provider is set up here: name one with -m, or see docs/models.md")
    return 0 if all(online.is_well for online in found) else 5


def _egress(folder: Path | None, *, as_json: bool) -> int:
    from proofstone.cli.diagnosis_text import sent_lines  # noqa: PLC0415
    from proofstone.wiring.diagnosis import sent_from  # noqa: PLC0415

    sent = sent_from(folder)
    if as_json:
        print_json(sent)
    else:
        for line in sent_lines(sent):
            click.echo(line)
    return 0


def _bundle(folder: Path | None, path: Path, *, as_json: bool) -> int:
    from proofstone.wiring.diagnosis import make_bundle  # noqa: PLC0415

    parts = make_bundle(folder, path, lambda: find_all(folder))
    sizes = {name: len(text.encode()) for name, text in parts.items()}
    if as_json:
        print_json({"file": str(path), "parts": sizes})
    else:
        for name, size in sizes.items():
            click.echo(f"{name:<18} {size:>8,} bytes")
        click.echo(f"written to {path}")
        say("no keys, prompts or replies are in it; look it over before you send it")
    return 0
