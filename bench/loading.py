"""Time loading 200,000 scores as columns, and planning a resumed run over them."""

from __future__ import annotations

import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import msgspec
from measures import Line, print_lines, timed
from msgspec import Struct

from proofstone.method import PayloadType
from proofstone.records.items import Item, ItemSet, imported_set_id, item_id
from proofstone.records.knowledge import Stratum
from proofstone.records.runs import Run
from proofstone.records.scores import Respondent
from proofstone.store.rows import insert_rows
from proofstone.store.schema import (
    call,
    cluster,
    profile,
    prompt,
    response,
    score,
    unit,
    unit_cluster,
)
from proofstone.store.scores import load_table
from proofstone.store.store import Store

N_ITEMS, N_MODELS, N_CLUSTERS, PAGE = 5_000, 40, 9, 128


class Note(Struct, frozen=True, tag="bench.note"):
    """A payload with one text."""

    text: str


def fill(store: Store) -> tuple[ItemSet, list[tuple[int, int]]]:
    """Create a set of 5,000 items, and 40 runs with all responses and complete scorings."""
    items = []
    for number in range(N_ITEMS):
        stratum = Stratum("d", f"field {number % 12}", f"subfield {number % 60}", "")
        made = Item(kind="bench.note", payload=Note("x"), number=number, stratum=stratum)
        items.append(msgspec.structs.replace(made, id=item_id(made)))
    identity = imported_set_id("bench", tuple(made.id for made in items))
    item_set = ItemSet(id=identity, name="bench", kind="imported", method="bench", n_items=N_ITEMS)
    store.items.add_set(item_set, items, 0.0)
    keys = [key for _place, key in store.items.places(item_set.id, -1, N_ITEMS)]
    runs = []
    for model in range(N_MODELS):
        run = Run(
            id=sha256(str(model).encode()).digest(), item_set=item_set.id, method="bench",
            respondent=f"bench/{model}", prompt_method="direct", prompt_hash=bytes(32),
        )  # fmt: skip
        key = store.runs.add(run, 0.0, "0")
        runs.append((key, store.scores.begin(key, run, 1, "", float(model))))
    with store.database.writing() as connection:
        columns = ("id", "item_id", "kind", "key", "version", "payload", "answer_key", "n_choices")
        rows = [(i + 1, key, "item", b"", 1, b"", "A", 6) for i, key in enumerate(keys)]
        insert_rows(connection, unit, rows, columns=columns)
        names = [(i + 1, "s", i.to_bytes(4, "big")) for i in range(N_ITEMS * 2)]
        insert_rows(connection, cluster, names, columns=("id", "kind", "key"))
        edges = [
            (i + 1, (i * 7 + j * 13) % (N_ITEMS * 2) + 1)
            for i in range(N_ITEMS)
            for j in range(N_CLUSTERS)
        ]
        insert_rows(
            connection, unit_cluster, edges, columns=("unit_id", "cluster_id"), or_ignore=True
        )
        insert_rows(connection, prompt, [(1, bytes(32), b"")], columns=("id", "hash", "body"))
        insert_rows(
            connection, profile, [(1, bytes(32), "bench", "", "openai-chat", False, b"[{},{},[]]")],
            columns=("id", "hash", "model", "endpoint", "wire", "simulated", "settings"),
        )  # fmt: skip
        one = (1, bytes(32), 0, 1, 1, "ask", 0, "complete", 200, b"", 0.1, 1, 0.0)
        insert_rows(
            connection, call, [one],
            columns=("id", "request_hash", "attempt", "profile_id", "prompt_id", "purpose",
                     "sample", "state", "status", "raw", "latency_s", "attempts", "started_at"),
        )  # fmt: skip
        for model, (key, scoring) in enumerate(runs):
            scores = [
                (scoring, i + 1, 0, "accuracy", 0, float((i * 31 + model * 17) % 97 < 40), "B")
                for i in range(N_ITEMS)
            ]
            columns = ("scoring_id", "unit_id", "sample", "measure", "outcome", "value", "answer")
            insert_rows(connection, score, scores, columns=columns)
            responses = [(key, item, 0, "answer", 1) for item in keys]
            columns = ("run_id", "item_id", "sample", "step", "call_id")
            insert_rows(connection, response, responses, columns=columns)
    return item_set, runs


def main() -> bool:
    """Fill a workspace and print the time of loading and planning."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'bench.sqlite'}"
        store = Store(url, lambda _kind: PayloadType(Note))
        item_set, runs = fill(store)
        with timed() as loading:
            table = load_table(
                store.database,
                respondents=[Respondent(f"bench/{i}", "direct") for i in range(N_MODELS)],
                scorings={scoring: i for i, (_key, scoring) in enumerate(runs)},
                item_sets={item_set.id: "bench"},
                expected=[N_ITEMS] * N_MODELS,
                measure="accuracy",
            )
        with timed() as planning:
            n_done = 0
            for key, _scoring in runs:
                after = -1
                while done := store.runs.steps_among(key, item_set.id, after, PAGE):
                    n_done += len(done)
                    after += PAGE
        store.close()
    assert len(table.unit) == n_done == N_ITEMS * N_MODELS
    return print_lines(
        f"{N_ITEMS * N_MODELS:,} scores of {N_ITEMS:,} items by {N_MODELS} models",
        [
            Line("loaded for analysis", f"{loading.wall_s:.2f} s", "under 1 s", loading.wall_s < 1),
            Line("resume planned", f"{planning.wall_s:.2f} s", "under 2 s", planning.wall_s < 2),
        ],
    )


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
