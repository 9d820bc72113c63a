"""Check that this interpreter can create the project's environment, with advice if not.

It runs on Python 3.6 or later, so that old versions print this message and no syntax error.
"""

import sys


def trouble() -> str:
    """Return what is missing, or an empty text."""
    if sys.version_info < (3, 11):  # noqa: UP036  (the one file that older versions run)
        found = sys.version.split()[0]
        return (
            f"Proofstone needs Python 3.11 or newer; {sys.executable} is {found}.\n"
            "  Install one, or name it: make PYTHON=/path/to/python3.11 ..."
        )
    try:
        import ensurepip  # noqa: F401, PLC0415  (asked for, not used)
        import venv  # noqa: F401, PLC0415
    except ImportError as error:
        return (
            f"{sys.executable} cannot make virtual environments ({error}).\n"
            "  On Debian and Ubuntu: apt-get install python3-venv"
        )
    return ""


if __name__ == "__main__":
    sys.exit(trouble() or 0)
