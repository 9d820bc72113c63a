"""Time submodlib's lazy greedy: scores.npy (items, references) and k; prints JSON."""

import json
import sys
import time

import numpy as np
from submodlib import FacilityLocationFunction

scores, k = np.load(sys.argv[1]), int(sys.argv[2])
by_reference = np.ascontiguousarray(scores.T)
walls = []
for _ in range(3):
    start = time.perf_counter()
    made = FacilityLocationFunction(
        n=len(scores), mode="dense", sijs=by_reference, separate_rep=True, n_rep=len(by_reference)
    )
    found = made.maximize(
        budget=k, optimizer="LazyGreedy", stopIfZeroGain=False, stopIfNegativeGain=False
    )
    walls.append(time.perf_counter() - start)
rows = [row for row, _ in found]
value = float(scores[rows].max(axis=0).mean())
print(f"\n{json.dumps({'wall_s': min(walls), 'value': value})}")
