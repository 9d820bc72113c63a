"""Compiled templates, kept where Python keeps compiled modules."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket, BytecodeCache


class KeptTemplates(BytecodeCache):
    """What a page's templates compile to, which takes half a second each time otherwise.

    In the ``__pycache__`` of this package, or under ``PYTHONPYCACHEPREFIX``; nothing is written
    with ``PYTHONDONTWRITEBYTECODE``, nor where it cannot be. What was made from another text or by
    another Jinja is not taken.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fills the bucket where what is kept can be read and still fits."""
        # It begins with a pickle, and a damaged one raises anything: then all is compiled anew.
        with contextlib.suppress(Exception), _place(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps what was compiled, whole or not at all."""
        if sys.dont_write_bytecode:
            return
        place = _place(bucket)
        new = place.with_name(f"{place.name}.{os.getpid()}")  # another process may do the same
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                with new.open("wb") as file:
                    bucket.write_bytecode(file)
                new.replace(place)
            finally:
                new.unlink(missing_ok=True)


def _place(bucket: Bucket) -> Path:
    template = Path(__file__).with_name(f"template_{jinja2.__version__}_{bucket.key}.py")
    return Path(importlib.util.cache_from_source(str(template)))
