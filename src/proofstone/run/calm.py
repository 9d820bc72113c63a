"""An interpreter set for many small requests, while a campaign lasts."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Measured on the run-loop bench: walking the bank, the libraries and the replies in flight again
# and again takes a sixth of the loop's processor time; a hash or a compression that hands the
# interpreter to another thread gets it back after the switch interval, 5 ms by default.
_COLLECT_EVERY = 50_000


_SWITCH_S = 0.001


@contextmanager
def calm_interpreter() -> Iterator[None]:
    """Rare garbage collections that leave out what was there before, and short turns of threads;
    as before when it ends. Campaigns of one process may overlap: the outermost restores."""
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    if thresholds[0] >= _COLLECT_EVERY:
        yield
        return
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY, *thresholds[1:])
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*thresholds)
        gc.unfreeze()
