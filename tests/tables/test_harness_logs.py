"""Logs of two harnesses, as they wrote them.

``lm_eval/`` was written by lm-eval 0.4.13 with its dummy model and a task of eight questions (the
results files are cut, and their models named). Inspect's log is made by Inspect itself here.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from proofstone.engines.ingest import read_rows
from proofstone.engines.tables import Layout, lm_eval_columns, model_of, task_of
from proofstone.errors import BadInput
from proofstone.records import Row
from proofstone.stages.audit import Asked, audit_files

LM_EVAL = Path(__file__).parent / "lm_eval"

INSPECT = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match

def says(messages, tools, choice, config):
    number = int(messages[-1].text.split("+")[0])
    if number == 5 and NAME == "broken":
        raise RuntimeError("the endpoint went away")
    output = ModelOutput.from_content("mockllm/x", str(2 * number) if number % RIGHT else "no idea")
    output.usage = ModelUsage(input_tokens=5, output_tokens=3, total_tokens=8)
    return output

for NAME, RIGHT in (("good", 4), ("bad", 2), ("broken", 4)):
    samples = [
        Sample(id=f"q{n}", input=f"{n}+{n}=", target=str(2 * n), metadata={"topic": "AB"[n % 2]})
        for n in range(8)
    ]
    model = get_model(f"mockllm/{NAME}", custom_outputs=says, memoize=False)
    task = Task(name="doubles", dataset=samples, scorer=match(numeric=True))
    eval(task, model=model, epochs=2, log_dir=sys.argv[1], display="none", fail_on_error=False)
"""


@pytest.fixture(scope="module")
def inspect_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of three models; one sample of the last ended in an error."""
    pytest.importorskip("inspect_ai")
    folder = tmp_path_factory.mktemp("logs")
    subprocess.run([sys.executable, "-c", INSPECT, folder], check=True, capture_output=True)
    return folder


def means(paths: list[Path], **asked: object) -> dict[str, tuple[float, int]]:
    """Each model's mean and number of items."""
    board = audit_files(paths, Asked(**asked)).board
    rows = [row for group in board.standings for row in (*group.ranked, *group.incomplete)]
    return {row.name: (row.estimate.value, row.estimate.n) for row in rows}


def test_a_folder_of_lm_eval_is_one_set_of_results() -> None:
    """The models are named by the results beside the samples; the first metric counts."""
    rows = [row for path in sorted(LM_EVAL.glob("*/samples*")) for row in read_rows(path)]
    acc = [row.values["acc"] for row in rows]
    assert means([LM_EVAL]) == {
        "example/first": (sum(acc[:8]) / 8, 8),
        "example/second": (sum(acc[8:]) / 8, 8),
    }


def test_another_metric_of_lm_eval_is_named_like_a_column() -> None:
    """Both models as acc_norm has them."""
    rows = [row for path in sorted(LM_EVAL.glob("*/samples*")) for row in read_rows(path)]
    norm = [row.values["acc_norm"] for row in rows]
    found = means([LM_EVAL], named=Layout(score="acc_norm"))
    assert found["example/first"] == (sum(norm[:8]) / 8, 8)


def test_items_of_lm_eval_are_named_by_task_and_number() -> None:
    """Short fields of the question are columns; the question itself is one where it is short."""
    (path,) = (LM_EVAL / "hpbhprii").glob("samples*")
    table, metric = lm_eval_columns(
        read_rows(path), name="x", model=model_of(path), task=task_of(path)
    )
    assert (task_of(path), model_of(path), metric) == ("doubles", "example/first", "acc")
    assert table.columns["item"].names[:2] == ("doubles/0", "doubles/1")
    assert table.columns["topic"].names == ("even", "odd")
    assert list(table.columns)[:6] == ["item", "model", "task", "filter", "acc", "acc_norm"]


def test_without_results_the_folder_names_the_model(tmp_path: Path) -> None:
    """As lm-eval writes it, two underscores for a slash."""
    assert model_of(tmp_path / "org__name" / "samples_t_2026-01-01T00-00-00.jsonl") == "org/name"


def test_a_line_without_a_metric_is_a_problem() -> None:
    """Its line is named."""
    with pytest.raises(BadInput) as caught:
        lm_eval_columns([Row("line 3", {"doc_id": 1, "resps": []})], name="x", model="m", task="t")
    assert str(caught.value.problems[0]) == ("line 3: has no metric: expected a list under metrics")


def test_inspect_logs_are_read_through_its_own_api(inspect_logs: Path) -> None:
    """Good is right where n is no multiple of 4: 6 of 8; bad where n is odd: 4 of 8. The samples
    that failed are missing: broken has 14 of 16 and, short of 95%, stands below."""
    board = audit_files([inspect_logs], Asked()).board
    (group,) = board.standings
    assert {row.name: row.estimate.value for row in group.ranked} == {
        "mockllm/good": 6 / 8,
        "mockllm/bad": 4 / 8,
    }
    (broken,) = group.incomplete
    assert (broken.name, broken.n_replies, broken.missing) == ("mockllm/broken", 14, 2)
    assert [part.by for part in group.breakdowns] == ["topic"]


def test_a_file_that_is_no_log_is_refused(tmp_path: Path) -> None:
    """With what Inspect says of it."""
    pytest.importorskip("inspect_ai")
    path = tmp_path / "broken.eval"
    path.write_bytes(b"no zip")
    with pytest.raises(BadInput, match="is no readable Inspect log"):
        audit_files([path], Asked())


def test_inspect_logs_may_be_json(inspect_logs: Path, tmp_path: Path) -> None:
    """They are known by how they begin."""
    script = (
        "import sys; from inspect_ai.log import read_eval_log, write_eval_log\n"
        "write_eval_log(read_eval_log(sys.argv[1]), sys.argv[2])"
    )
    path = tmp_path / "log.json"
    # Names hold the second and a random word; the first to be written is that of the first model.
    first = min(inspect_logs.glob("*.eval"), key=lambda log: log.stat().st_mtime_ns)
    subprocess.run([sys.executable, "-c", script, first, path], check=True, capture_output=True)
    assert means([path]) == {"mockllm/good": (6 / 8, 8)}
