"""This interpreter can make the project's environment, or it is said why not and what to do.

Runs on any Python from 3.6, so that an old one gets this message and not a syntax error.
"""

import sys


def trouble() -> str:
    """What is missing, or an empty text."""
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
