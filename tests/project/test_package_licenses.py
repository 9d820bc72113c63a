"""Licences are read from every place a package states them, and strong copyleft never passes."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tools.licenses import Said, check_project, read_rules, said_by, trouble
from tools.resolved import NotInstalledError, closure, read_project
from tools.spdx import holds

RULES = read_rules()


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("MIT", True),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT AND ISC", True),
        ("(GPL-3.0-only OR MIT) AND LGPL-2.1-only", False),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-3.0-only WITH GCC-exception-3.1", False),
    ],
)
def test_an_expression_holds_by_its_grammar(expression: str, answer: bool) -> None:
    """AND binds tighter than OR; an exception only adds permissions to an allowed license."""
    assert holds(expression, RULES.allowed.__contains__) is answer


def test_an_exception_can_be_allowed_by_its_whole_name() -> None:
    """``X WITH E`` is met by the whole text where X alone is not allowed."""
    assert holds("X WITH E", {"X WITH E"}.__contains__)


@pytest.mark.parametrize("text", ["", "MIT License", "(MIT", "MIT OR", "MIT)", "AND MIT", "a, b"])
def test_what_is_no_expression_is_not_guessed_at(text: str) -> None:
    """A ValueError, so that the caller must look the text up or ask a person."""
    with pytest.raises(ValueError, match="SPDX"):
        holds(text, lambda _: True)


def distribution(folder: Path, *lines: str) -> PathDistribution:
    """A distribution whose metadata are ``lines``."""
    place = folder / "thing-1.0.dist-info"
    place.mkdir()
    text = "\n".join(["Metadata-Version: 2.4", "Name: thing", "Version: 1.0", *lines, ""])
    (place / "METADATA").write_text(text, encoding="utf-8")
    return PathDistribution(place)


def test_expression_field_and_classifiers_are_all_read(tmp_path: Path) -> None:
    """Each is a statement of its own; old spellings become SPDX names; a bare root says nothing."""
    thing = distribution(
        tmp_path,
        "License-Expression: Apache-2.0",
        "License: MIT License",
        "Classifier: License :: OSI Approved",
        "Classifier: License :: OSI Approved :: BSD License",
        "Classifier: License :: Odd Terms",
    )
    assert said_by(thing, RULES) == Said(("Apache-2.0", "MIT", "BSD-3-Clause"), ("Odd Terms",))


def test_a_licence_text_instead_of_a_name_goes_unread(tmp_path: Path) -> None:
    """A whole license in the field needs a person; its beginning is what the check quotes."""
    thing = distribution(tmp_path, "License: Do as you like", "        but never on Sundays")
    assert said_by(thing, RULES).unread[0].startswith("Do as you like")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Said(("MIT",)), ""),
        (Said(()), "thing: names no license"),
        (Said(("MIT", "GPL-2.0-only")), "thing: GPL-2.0-only is not allowed"),
        (Said(("Proprietary",)), "thing: Proprietary is not allowed"),
        (Said(("MIT",), ("Odd Terms",)), "thing: 'Odd Terms' is no license that is known here"),
    ],
)
def test_a_package_passes_when_all_it_says_is_allowed(said: Said, why: str) -> None:
    """One statement that is not allowed, or that nobody can read, is enough to refuse it."""
    assert trouble("thing", said, RULES, in_core=True) == why


def test_an_exception_holds_for_its_package_outside_the_core_only() -> None:
    """The LGPL driver passes as part of its extra, and not if the core came to need it."""
    said = Said(("LGPL-3.0-only",))
    assert trouble("psycopg", said, RULES, in_core=False) == ""
    assert "outside the core only" in trouble("psycopg", said, RULES, in_core=True)
    assert trouble("thing", said, RULES, in_core=False) == "thing: LGPL-3.0-only is not allowed"


@pytest.mark.parametrize(
    "text",
    [
        "OSI Approved :: GNU General Public License v3 (GPLv3)",
        "OSI Approved :: GNU Affero General Public License v3",
        "GNU GPL version 2",
    ],
)
def test_no_review_lets_strong_copyleft_in(text: str) -> None:
    """A reviewed entry stands for what could not be read, not for what plainly says GPL."""
    reviewed = replace(RULES, reviewed={"thing": frozenset({"MIT"})})
    said = Said((), (text,))
    assert trouble("thing", said, reviewed, in_core=False) == f"thing: {text} is allowed nowhere"
    assert trouble("thing", Said((), ("Odd Terms",)), reviewed, in_core=False) == ""


@pytest.mark.parametrize(
    ("entry", "match"),
    [
        ('licenses = ["AGPL-3.0-only"]\nreason = "wanted"', "cannot be let in"),
        ('licenses = ["LGPL-3.0-only"]\nreason = " "', "and the reason"),
        ('reason = "forgot what"', "names its licenses"),
    ],
)
def test_an_exception_without_reason_or_for_gpl_is_refused(
    tmp_path: Path, entry: str, match: str
) -> None:
    """The table itself is checked when it is read."""
    table = tmp_path / "licenses.toml"
    head = "allowed = []\nunwanted = []\nunwanted_in_core = []\n[spellings]\n[reviewed]\n"
    table.write_text(f"{head}[outside_core.thing]\n{entry}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=match):
        read_rules(table)


def test_the_project_as_installed_has_no_trouble() -> None:
    """Every package of core and extras passes; nothing needs torch, and the core no pandas."""
    count, found = check_project(RULES)
    assert found == []
    assert count > len(read_project().core)
    assert not [name for name in RULES.allowed if "GPL" in name]


def test_an_exception_that_nothing_needs_is_named() -> None:
    """So the table shrinks with the dependencies."""
    _, found = check_project(replace(RULES, reviewed={**RULES.reviewed, "gone": frozenset()}))
    assert found == ["gone: has an exception, and nothing needs it any more"]


def test_unwanted_packages_are_named() -> None:
    """The rule for the core and the rule for all that users install, seen to fail."""
    strict = replace(RULES, unwanted=frozenset({"pandas"}), unwanted_in_core=frozenset({"numpy"}))
    assert check_project(strict)[1] == [
        "numpy: must not be needed by the core",
        "pandas: must not be needed by anything a user installs",
    ]


def test_requirements_resolve_through_extras_and_markers() -> None:
    """``psycopg[binary]`` brings its compiled half; a marker for another system brings nothing."""
    found = closure([Requirement("psycopg[binary]"), Requirement("nowhere; sys_platform == 'os9'")])
    assert {"psycopg", "psycopg-binary"} <= found.keys()
    assert "nowhere" not in found
    assert "psycopg-binary" not in closure([Requirement("psycopg")])


def test_all_absent_packages_are_named_at_once() -> None:
    """One message, in order of names."""
    with pytest.raises(NotInstalledError, match="not installed here: absent-a, absent-b"):
        closure([Requirement("absent-b"), Requirement("absent_a")])
