"""Rules for every tracked file: no machine's paths, no registries' hosts, no catch-all modules."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Written in parts, so that this file does not name what it looks for.
HOSTS = re.compile(
    "|".join(
        re.escape(".".join(parts))
        for parts in [
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("npmjs", "org"),
            ("npmjs", "com"),
            ("crates", "io"),
            ("deb", "debian", "org"),
            ("anaconda", "org"),
            ("proxy", "golang", "org"),
        ]
    )
)
PATHS = re.compile(
    r"(?<![\w./])/(?:"
    + "|".join(["wor" + "k", "roo" + "t", "tm" + "p/venv", "hom" + r"e/\w+"])
    + r")\b"
)
CATCH_ALL = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager", "managers"}


def tracked() -> list[Path]:
    """The files git knows, without those deleted in the working tree."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git clone, so what is tracked is not known")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, encoding="utf-8"
    )
    assert listed.returncode == 0, listed.stderr
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def texts() -> Iterator[tuple[str, int, str]]:
    """Every line of every tracked text file: its path, line number and text."""
    for path in tracked():
        raw = path.read_bytes()
        if b"\0" not in raw[:8192]:
            name = path.relative_to(ROOT).as_posix()
            for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
                yield name, number, line


@pytest.mark.parametrize("pattern", [HOSTS, PATHS], ids=["registry hosts", "machine paths"])
def test_no_line_names_a_machine(pattern: re.Pattern[str]) -> None:
    """What is written here must be true on every machine."""
    found = [
        f"{name}:{number}: {line.strip()[:90]}"
        for name, number, line in texts()
        if pattern.search(line)
    ]
    assert found == []


def test_the_patterns_find_what_they_look_for() -> None:
    """A check that cannot fail is none."""
    folder = "wor" + "k"
    assert PATHS.search(f"see /{folder}/main")
    assert PATHS.search(f'"/{folder}"')
    assert not PATHS.search(f"https://example.org/{folder}/x")
    assert not PATHS.search(f"src/{folder}")
    assert HOSTS.search("https://" + "pypi" + ".org/simple")


def test_modules_are_named_for_what_they_know() -> None:
    """No file or folder of Python code has a catch-all name."""
    code = [path.relative_to(ROOT) for path in tracked() if path.suffix == ".py"]
    assert [str(path) for path in code if CATCH_ALL & {path.stem, *path.parts}] == []


def test_text_files_are_utf8_with_plain_line_ends() -> None:
    """Python, Markdown, TOML and templates: UTF-8 without BOM, no CR, a line break at the end."""
    suffixes = {".py", ".md", ".toml", ".jinja", ".txt", ".sh", ".mako"}
    wrong = []
    for path in tracked():
        raw = path.read_bytes()
        if path.suffix not in suffixes or not raw:
            continue
        if raw.startswith(b"\xef\xbb\xbf") or b"\r" in raw or not raw.endswith(b"\n"):
            wrong.append(path.relative_to(ROOT).as_posix())
        raw.decode("utf-8")
    assert wrong == []


def test_no_two_test_files_share_a_name() -> None:
    """The second would not be collected: test files are modules without packages."""
    counts = Counter(path.name for path in tracked() if path.name.startswith("test_"))
    assert [name for name, times in counts.items() if times > 1] == []
