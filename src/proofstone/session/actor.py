"""Who acts where nobody is named: by an environment variable, else the user of this computer."""

from __future__ import annotations

import getpass
import os

from proofstone.errors import BadUsage

ACTOR_VARIABLE = "PROOFSTONE_ACTOR"


def acting_name(by: str | None) -> str:
    """``by``, or who acts where it is empty. Raises BadUsage where this login has no name."""
    named = by or os.environ.get(ACTOR_VARIABLE, "")
    if named:
        return named
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container's number
        raise BadUsage(
            "nobody is named who does this", hint=f"say it with --by NAME, or set {ACTOR_VARIABLE}"
        ) from None
