"""Time planning a run and rendering its prompts, with a whole document before each question.

400 questions over 137 documents of 15,000 tokens, and the peak memory beside that of a quarter of
them.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measures import Line, machine, print_lines, timed

from proofstone.api import Workspace, create_workspace, open_workspace
from proofstone.documents.sources import Stated
from proofstone.ingest.ingest import ingest_paths
from proofstone.method import find_method
from proofstone.models.simulator import Character, SimulatedModel
from proofstone.models.tokens import load_cl100k
from proofstone.records.calls import Message
from proofstone.run.asked_items import asked_page
from proofstone.run.context_texts import with_documents
from proofstone.run.outbound import make_retriever
from proofstone.run.plan import plan_run
from proofstone.run.request import specs_of
from proofstone.store.items import StoredItem

DOCUMENTS, QUESTIONS, TOKENS = 137, 400, 15_000
BOUND_S = 2.0
BOUND_MB = 20.0  # all documents together have about 9 MB of text
_OPTIONS = ("one", "two", "three", "four")
PAGE = 64  # items read together, as a run does
METHOD = "elaipbench"


def words(rng: random.Random, n: int) -> list[str]:
    """Return words of one to four syllables."""
    syllables = [a + b for a in "bcdfglmnprstv" for b in ("a", "en", "i", "or", "u", "est")]
    return ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(n)]


def write_document(path: Path, rng: random.Random, known: list[str]) -> str:
    """Write a document of about ``TOKENS`` tokens; return one of its sentences."""
    count, left, paragraphs = load_cl100k(), TOKENS, []
    weights = [1 / (rank + 1) for rank in range(len(known))]
    while left > 0:
        drawn = iter(rng.choices(known, weights, k=90))
        sentences = [" ".join(next(drawn) for _ in range(15)).capitalize() + "." for _ in range(6)]
        paragraphs.append(" ".join(sentences))
        left -= count(paragraphs[-1])
    path.write_text("\n\n".join(paragraphs), encoding="utf-8")
    return paragraphs[-1].split(". ")[2] + "."


def make(folder: Path, n_documents: int, n_questions: int) -> None:
    """Make a workspace of documents and questions on them."""
    rng = random.Random(1)
    known = words(rng, 20_000)
    rows = []
    paths = [folder / f"Document {number}.txt" for number in range(n_documents)]
    with create_workspace(folder / "work") as workspace:
        for number, path in enumerate(paths):
            quote, title = write_document(path, rng, known), path.stem
            rows += [
                {
                    "document": title, "type": "single", "answer": "A",
                    "question": f"What follows ({number}, {again})?",
                    "options": [f"{letter} {quote[:40]}" for letter in _OPTIONS],
                    "evidence": {"A": [quote]},
                }
                for again in range(-(-(n_questions - number) // n_documents))
            ]  # fmt: skip
        ingest_paths(workspace.store, paths, stated=Stated(), clock=workspace.clock)
        questions = folder / "questions.jsonl"
        questions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        workspace.import_bank(questions, method=METHOD)
        workspace.build_form("questions")


def plan_and_render(workspace: Workspace) -> int:
    """Plan a run with whole documents and render every prompt; return their characters."""
    (form,) = workspace.store.lookup.every("form")
    (spec,) = specs_of(workspace, f"form:{form.id.hex()}", models="sim/one", context="document")
    method = find_method(METHOD)
    model = SimulatedModel("sim/one", Character())
    planned = plan_run(workspace.store, method, spec, model, make_retriever(workspace))
    n, after, characters = planned.n_items, -1, 0
    while after < n - 1:
        page = asked_page(workspace.store, planned.prompt_method, form.id, after, PAGE)
        after = min(after + PAGE, n - 1)
        for stored in page:
            characters += rendered(stored)
    return characters


def rendered(stored: StoredItem) -> int:
    item = stored.loaded
    asks = [Message("user", "Which?")]
    shown = with_documents(asks, item.documents, item.item.language, is_alone=True)
    return len(shown[-1].text)


def measured(folder: Path) -> tuple[float, float, int]:
    """Return seconds, peak memory (MB) and characters of a process of its own."""
    child = [sys.executable, __file__, "--child", str(folder)]
    said = subprocess.run(child, check=True, capture_output=True, text=True).stdout.split()
    return float(said[0]), float(said[1]), int(said[2])


def child(folder: Path) -> None:
    """Plan and render, and print seconds, the peak memory of this process, and characters."""
    with open_workspace(folder / "work") as workspace, timed() as took:
        characters = plan_and_render(workspace)
    print(took.wall_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, characters)


def main() -> int:
    if "--child" in sys.argv:
        child(Path(sys.argv[-1]))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        whole, quarter = Path(folder) / "whole", Path(folder) / "quarter"
        for each, part in ((whole, 1), (quarter, 4)):
            each.mkdir()
            make(each, DOCUMENTS // part, QUESTIONS // part)
        seconds, peak, characters = measured(whole)
        more = peak - measured(quarter)[1]
    lines = [
        Line("planned and rendered", f"{seconds:.2f} s", f"{BOUND_S:g} s or less",
             seconds <= BOUND_S),
        Line("characters rendered", f"{characters:,}"),
        Line("memory beyond a quarter of it", f"{more:.0f} MB", f"{BOUND_MB:g} MB or less",
             more <= BOUND_MB),
        Line("machine", machine()),
    ]  # fmt: skip
    title = f"{QUESTIONS} questions over {DOCUMENTS} documents of {TOKENS:,} tokens"
    return 0 if print_lines(title, lines) else 1


if __name__ == "__main__":
    sys.exit(main())
