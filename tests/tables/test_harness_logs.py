"""Logs of two harnesses, as they wrote them.

``lm_eval/`` was written by lm-eval 0.4.13 with its dummy model and a task of eight questions (the
results files are cut, and their models named). Inspect's log is made by Inspect itself here.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proofstone.errors import BadInput, BadUsage
from proofstone.files.tables import read_rows
from proofstone.records.tables import Row
from proofstone.results.audit.audit import Asked, audit_files
from proofstone.results.audit.column_names import Layout
from proofstone.results.audit.harness_logs import lm_eval_columns, model_of, task_of

LM_EVAL = Path(__file__).parent / "lm_eval"

INSPECT = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import choice, match
from inspect_ai.solver import multiple_choice

def says(messages, tools, choice, config):
    number = int(messages[-1].text.split("+")[0])
    if number == 5 and NAME == "broken":
        raise RuntimeError("the endpoint went away")
    output = ModelOutput.from_content("mockllm/x", str(2 * number) if number % RIGHT else "no idea")
    output.usage = ModelUsage(input_tokens=5, output_tokens=3, total_tokens=8)
    return output

for NAME, RIGHT in (("good", 4), ("bad", 2), ("broken", 4)) if len(sys.argv) < 3 else ():
    samples = [
        Sample(id=f"q{n}", input=f"{n}+{n}=", target=str(2 * n), metadata={"topic": "AB"[n % 2]})
        for n in range(8)
    ]
    model = get_model(f"mockllm/{NAME}", custom_outputs=says, memoize=False)
    task = Task(name="doubles", dataset=samples, scorer=match(numeric=True))
    eval(task, model=model, epochs=2, log_dir=sys.argv[1], display="none", fail_on_error=False)

def chooses(messages, tools, choice, config):
    said = "ANSWER: A" if NAME == "formatted" else "It is A, I think."
    output = ModelOutput.from_content("mockllm/x", said)
    output.usage = ModelUsage(input_tokens=5, output_tokens=3, total_tokens=8)
    return output

for NAME in ("formatted", "free") if len(sys.argv) > 2 else ():
    samples = [Sample(id=f"c{n}", input=f"{n}?", choices=["x", "y"], target="AB"[n % 4 == 0])
               for n in range(12)]
    model = get_model(f"mockllm/{NAME}", custom_outputs=chooses, memoize=False)
    task = Task(name="chosen", dataset=samples, solver=multiple_choice(), scorer=choice())
    eval(task, model=model, log_dir=sys.argv[1], log_format=sys.argv[2], display="none")
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
        read_rows(path), name="x", model=model_of(path)[0], task=task_of(path)
    )
    assert (task_of(path), model_of(path)[0], metric) == ("doubles", "example/first", "acc")
    assert table.columns["item"].names[:2] == ("doubles/0", "doubles/1")
    assert table.columns["topic"].names == ("even", "odd")
    assert list(table.columns)[:6] == ["item", "model", "task", "filter", "acc", "acc_norm"]


def test_without_results_the_folder_names_the_model(tmp_path: Path) -> None:
    """As lm-eval writes it, two underscores for a slash."""
    assert model_of(tmp_path / "org__name" / "samples_t_2026-01-01T00-00-00.jsonl") == (
        "org/name",
        True,
    )


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
    assert (broken.name, broken.n_responses, broken.missing) == ("mockllm/broken", 14, 2)
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


def chosen_logs(folder: Path, kind: str) -> Path:
    """Logs of a multiple-choice task: one model keeps to Inspect's format, the other does not."""
    pytest.importorskip("inspect_ai")
    command = [sys.executable, "-c", INSPECT, folder, kind]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("kind", ["eval", "json"])
def test_responses_that_inspect_could_not_read_are_unparsed(tmp_path: Path, kind: str) -> None:
    """Both models choose A; 12 of 12 responses without ``ANSWER:`` are unparsed, which is said
    beside the score of 0 with a warning, and the difference is not called one of knowledge."""
    audit = audit_files([chosen_logs(tmp_path, kind)], Asked())
    (group,) = audit.board.standings
    rows = {row.name: row for row in group.ranked}
    free, formatted = rows["mockllm/free"], rows["mockllm/formatted"]
    assert (free.estimate.value, formatted.estimate.value) == (0.0, 9 / 12)
    assert (free.rate("unparsed").share, formatted.rate("unparsed").share) == (1.0, 0.0)
    assert [advice.what for advice in free.warnings] == ["100.0% unparsed (12 of 12)"]
    assert "show RUN" not in free.warnings[0].try_next
    assert not formatted.warnings
    assert {rate.outcome for rate in free.rates} == {"unparsed", "no answer"}
    pairs = next(section for section in audit.sections if section.name == "pairs")
    assert pairs.cannot == (
        "Unparsed responses alone could account for the difference between mockllm/formatted and "
        "mockllm/free."
    )


def write_filtered(folder: Path, model: str, rights: int, *, invalid: int, time: str) -> Path:
    """Samples of a task with two filters, as lm-eval writes them: of 60 responses the first
    ``invalid`` are ``[invalid]`` under the strict one, and the last ``rights`` are right."""
    path = folder / f"samples_sums_2026-01-01T{time}.jsonl"
    folder.mkdir(exist_ok=True)
    lines = []
    for name in ("strict-match", "flexible-extract"):
        for n in range(60):
            is_lost = name == "strict-match" and n < invalid
            lines.append({
                "doc_id": n, "doc": {"question": f"{n}+{n}"}, "filter": name,
                "resps": [["so it is 4"]], "filtered_resps": ["[invalid]" if is_lost else "4"],
                "metrics": ["exact_match"], "exact_match": float(n >= 60 - rights and not is_lost),
            })  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    results = {"results": {}, "lm_eval_version": "0.4.13", "model_name": model}
    path.with_name(f"results_2026-01-01T{time}.json").write_text(json.dumps(results))
    return path


def test_what_lm_evals_filter_did_not_extract_is_unparsed(tmp_path: Path) -> None:
    """60 of 60 are ``[invalid]``: a share and a warning beside the score of 0, and what the log's
    other filter gives, with its interval (Wilson: 27 of 60)."""
    write_filtered(tmp_path / "a", "lab/free", 27, invalid=60, time="00-00-01.5")
    write_filtered(tmp_path / "b", "lab/tidy", 30, invalid=1, time="00-00-02.5")
    audit = audit_files([tmp_path], Asked())
    (group,) = audit.board.standings
    free = next(row for row in group.ranked if row.name == "lab/free")
    tidy = next(row for row in group.ranked if row.name == "lab/tidy")
    assert free.estimate.value == 0.0
    assert (free.rate("unparsed").count, tidy.rate("unparsed").count) == (60, 1)
    assert (len(free.warnings), len(tidy.warnings)) == (1, 0)  # 1 of 60 is below 2%
    told = [note for note in audit.notes if "flexible-extract" in note]
    assert told == [
        "lab/free: filter strict-match leaves 60 of 60 responses unparsed. Filter "
        "flexible-extract leaves 0 of 60; its score is 45.0 [33.1, 57.5]. To use it: --where "
        "filter=flexible-extract."
    ]
    other = audit_files([tmp_path], Asked(where={"filter": "flexible-extract"})).board
    assert [row.estimate.value for row in other.standings[0].ranked] == [0.5, 27 / 60]


def test_options_ranked_by_likelihood_are_always_parsed() -> None:
    """There the responses are pairs of a likelihood and a flag."""
    board = audit_files([LM_EVAL], Asked()).board
    assert [row.rate("unparsed").count for row in board.standings[0].ranked] == [0, 0]


def test_every_file_of_a_folder_is_read_or_named(tmp_path: Path) -> None:
    """Logs of two harnesses in one folder are one set of results; a results file names the model
    of its samples, and everything else is named with the reason."""
    chosen_logs(tmp_path / "inspect", "json")
    write_filtered(tmp_path / "a", "lab/free", 27, invalid=0, time="00-00-01.5")
    (tmp_path / "README.md").write_text("notes")
    (tmp_path / "board.csv").write_text("model,acc\na,1\n")
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "broken.eval").write_bytes(b"no zip")
    (tmp_path / "results_2025-01-01T00-00-00.json").write_text(
        json.dumps({"results": {"x": {"acc,none": 0.5}}, "lm_eval_version": "0.4.13"})
    )
    outside = tmp_path.parent / f"{tmp_path.name}.csv"
    outside.write_text("model,acc\nb,1\n")
    (tmp_path / "link.csv").symlink_to(outside)
    audit = audit_files([tmp_path], Asked())
    assert sorted(file.kind for file in audit.files) == [
        "Inspect log", "Inspect log", "lm-eval samples, filter strict-match",
    ]  # fmt: skip
    said = {each.name: each.why for each in audit.skipped}
    assert set(said) == {
        "README.md", "board.csv", "config.json", "broken.eval", "link.csv",
        "a/results_2026-01-01T00-00-01.5.json", "results_2025-01-01T00-00-00.json",
    }  # fmt: skip
    assert said["link.csv"] == "a link to a file outside the folder"
    assert said["board.csv"] == "a table in a folder of logs; name the file itself to read it"
    assert said["broken.eval"].startswith("broken.eval is no readable Inspect log")
    assert all(any(name in note for note in audit.notes) for name in said)
    assert str(tmp_path) not in "".join((*said.values(), *audit.notes))


def test_options_may_be_of_one_kind_of_file(tmp_path: Path) -> None:
    """``--where lm-eval:filter=...`` says nothing of Inspect's logs, which have no filter."""
    chosen_logs(tmp_path / "inspect", "json")
    write_filtered(tmp_path / "a", "lab/free", 27, invalid=60, time="00-00-01.5")
    asked = Asked(where_of={"lm-eval": {"filter": "flexible-extract"}})
    assert means([tmp_path], where_of=asked.where_of)["lab/free"] == (27 / 60, 60)
    named = {"where_of": asked.where_of, "named_of": {"lm-eval": Layout(item="doc_id")}}
    with pytest.raises(BadUsage, match="has no column 'doc_id'"):
        means([tmp_path], **named)


def test_totals_of_lm_eval_are_accuracies(tmp_path: Path) -> None:
    """Without samples each results file is a model with its tasks, their metric and their number
    of items; a group of tasks is left out, since its tasks are there."""
    for model, right in (("lab/a", 0.5), ("lab/b", 0.75)):
        folder = tmp_path / model.replace("/", "__")
        folder.mkdir()
        results = {
            "results": {
                "law": {"acc,none": right, "acc_stderr,none": 0.05, "acc_norm,none": 0.9},
                "sums": {"exact_match,strict": 0.25, "exact_match,flexible": right},
                "both": {"acc,none": 0.1},
                "text": {"word_perplexity,none": 12.5},
            },
            "group_subtasks": {"both": ["law", "sums"]},
            "n-samples": {"law": {"effective": 100}, "sums": {"effective": 100}},
            "model_name": model,
            "n-shot": {},
        }
        (folder / "results_2026-01-01T00-00-00.json").write_text(json.dumps(results))
    audit = audit_files([tmp_path], Asked())
    assert {row.name: row.estimate.value for row in audit.board.standings[0].ranked} == {
        "lab/b": (75 + 25) / 200,
        "lab/a": (50 + 25) / 200,
    }
    flexible = Asked(where={"filter": "flexible"}, named=Layout(score="exact_match"))
    found = audit_files([tmp_path], flexible).board.standings[0].ranked
    assert [row.estimate.value for row in found] == [0.75, 0.5]


def test_samples_away_from_their_results_have_no_model(tmp_path: Path) -> None:
    """A folder of any name says nothing of the model: runs are told apart by their time, and the
    reader is told. A results file elsewhere among the files names it."""
    source = next((LM_EVAL / "hpbhprii").glob("samples*"))
    (tmp_path / "downloads").mkdir()
    path = shutil.copy(source, tmp_path / "downloads")
    audit = audit_files([Path(path)], Asked())
    (row,) = audit.board.standings[0].ranked
    assert row.name == "unnamed model of 2026-11-21T08-22-40.029611"
    assert any("have the name of their run" in note for note in audit.notes)
    results = next((LM_EVAL / "hpbhprii").glob("results*"))
    shutil.copy(results, tmp_path)
    named = audit_files([tmp_path], Asked())
    assert named.board.standings[0].ranked[0].name == "example/first"
    assert not any("have the name of their run" in note for note in named.notes)
