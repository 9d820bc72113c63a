"""An option of ``run`` is declared once: command, run files and notebooks read the same record."""

from typing import Annotated

import click
from click.testing import CliRunner

from proofstone.run.cli import run_command
from proofstone.run.request import request_by
from proofstone.run.run_file import TOP_KEYS, keys_of
from proofstone.run.run_options import RunAsked, RunOpt, names_of
from proofstone.session.options import options_of


class MoreAsked(RunAsked, frozen=True, kw_only=True):
    """The options of ``run``, and one that is added here and nowhere else."""

    patience: Annotated[int, RunOpt("Rounds that are waited.", least=2, shows_default=True)] = 3


def test_a_field_that_is_added_is_an_option_a_key_and_a_keyword() -> None:
    @click.command()
    @options_of(MoreAsked)
    def command(patience: int, **_others: object) -> None:
        click.echo(patience)

    help_text = CliRunner().invoke(command, ["--help"]).output
    assert "--patience" in help_text
    assert "Rounds that are waited." in help_text
    assert CliRunner().invoke(command, ["--patience", "7"]).output == "7\n"
    assert CliRunner().invoke(command, ["--patience", "1"]).exit_code == 2

    fits, expected = keys_of(MoreAsked)["patience"]
    assert [fits(value) for value in (1, 2, "2", True)] == [False, True, False, False]
    assert expected == "a whole number of 2 or more"

    request = request_by({"patience": 5, "top_p": 0.5, "shots": 2}, record=MoreAsked)
    assert request.whole == {"patience": 5}
    assert (request.for_all.shots, request.for_all.settings) == (2, {"top_p": 0.5})


def test_every_field_is_an_option_of_the_command() -> None:
    assert set(RunAsked.__struct_fields__) <= {each.name for each in run_command.params}


def test_every_field_but_those_of_the_command_alone_is_a_key_of_run_files() -> None:
    said = names_of("whole", "asking", "setting")
    assert set(said) <= set(TOP_KEYS)
    assert set(keys_of(RunAsked)) == set(said)
