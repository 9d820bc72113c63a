"""``verify-triples FILE --reference FILE``: a file in, figures and files out."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from known_world import elicited_rows, is_covered, reference_rows, true_label

from proofstone.cli import main
from scripted_server import Act, Seen, answer, error
from serving import configure, serving

N = 6
_SAID = re.compile(r"subject: (.*)\npredicate: (.*)\nobject: (.*)")


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, out, err


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Triples of a CSV file and their reference, in a folder that is no workspace."""
    monkeypatch.chdir(tmp_path)
    triples, reference = tmp_path / "triples.csv", tmp_path / "reference.jsonl"
    rows = elicited_rows(N)
    with triples.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    lines = [json.dumps(row) for row in reference_rows(N)]
    reference.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return triples, reference


def read_csv(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def truthful(text: str) -> dict[str, str]:
    """What a judge without errors replies."""
    said = _SAID.search(text)
    assert said is not None
    if "reference fact" in text:
        label = "entailment" if is_covered(said[1], said[2]) else "neutral"
        return {"reason": "r", "label": label}
    return {
        "reason": "r",
        "rests_on": "passage 1",
        "label": true_label(said[1], said[2], said[3]),
    }


def script(response: Callable[[str], dict[str, str] | None]) -> Callable[[Seen], Act]:
    def act(seen: Seen) -> Act:
        made = response(seen.json["messages"][-1]["content"])
        if made is None:
            return error(400, {"error": {"message": "not this one"}})
        return answer(json.dumps(made))

    return act


def test_the_whole_way_with_a_judge_behind_an_endpoint(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The figures as JSON, a verdict a row with its passage and reason, tables in BeQu's columns;
    the labels that people fill in come back as agreement."""
    with serving(script(truthful)) as server:
        configure(Path.cwd(), server.url)
        command = ["grade", files[0], "--reference", files[1], "--judge", "scripted/judge"]
        more = ["--sample", 0, "--json", "-q"]
        code, out, err = told(
            capsys, *command, *more, "-o", "verdicts.csv", "--tables-to", "tables"
        )
        asked = server.requests
        assert (code, err) == (0, "")
        (made,) = json.loads(out)["measured"]
        values = {name: each["value"] for name, each in made["estimates"].items()}
        assert values["precision"] == pytest.approx(6 / 10)
        assert values["recall"] == pytest.approx(6 / 12)
        rows = read_csv("verdicts.csv")
        assert len(rows) == N * (10 + 12)
        assert asked == N * (10 + 6)
        for row in rows:
            row["people"] = row["verdict"] if row["drawn"] == "0" else ""
        with Path("people.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        code, out, _err = told(capsys, *command, *more, "--human-labels", "people.csv")
    (corrected,) = json.loads(out)["corrected"]
    assert corrected["agreement"]["value"] == 1.0
    right = next(row for row in rows if row["verdict"] == "entailment")
    assert right["passage"].startswith("Town ")
    assert right["reason"] == "r"
    table = read_csv("tables/results.csv")
    assert [list(row.values())[:7] for row in table] == [
        ["m", "Precision (RAG)", "", "60", "36", "12", "12"],
        ["m", "Recall", "", "72", "36", "0", "36"],
    ]
    assert {path.name for path in Path("tables").iterdir()} == {
        "results.csv", "combined_results.csv", "results_by_category.csv", "results_detailed.csv",
    }  # fmt: skip
    assert not (Path.cwd() / ".proofstone").exists()


def test_in_a_workspace_only_what_is_missing_is_asked(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The same command asks nobody, and a larger sample only what is new in it."""
    command = ["grade", files[0], "--reference", files[1], "--judge", "scripted/judge"]
    told(capsys, "init", ".")
    with serving(script(truthful)) as server:
        configure(Path.cwd(), server.url)
        _code, first, _err = told(capsys, *command, "--sample", 30, "--json")
        asked = server.requests
        _code, again, _err = told(capsys, *command, "--sample", 30, "--json")
        assert server.requests == asked
        told(capsys, *command, "--sample", 0, "--json")
        assert server.requests == N * (10 + 6)
    assert first == again


def test_what_a_judge_cites_and_was_not_given_is_told(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Asked again twice; then the verdict is unparsed, in the denominator, and in words below."""

    def cites_wrongly(text: str) -> dict[str, str]:
        said = truthful(text)
        return said if said["label"] != "entailment" else {**said, "rests_on": "passage 99"}

    with serving(script(cites_wrongly)) as server:
        configure(Path.cwd(), server.url)
        code, out, _err = told(
            capsys, "grade", *(files[0], "--reference", files[1]), "--judge",
            "scripted/judge", "--sample", 0,
        )  # fmt: skip
        assert server.requests == N * (4 + 3 * 6 + 6)
    assert code == 0
    assert "cites a passage that was not given 36" in out
    assert re.search(r"^m +60 +72 +0\.0 ", out, re.MULTILINE), out


def test_several_models_are_ranked_with_ties(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that say the same share ranks 1 and 2; one whose every triple is wrong is third."""
    monkeypatch.chdir(tmp_path)
    good, n = elicited_rows(12), 12
    rows = [
        *(
            {**row, "model": "poor", "object": "nonsense"}
            for row in good
            if "0" in row["predicate"]
        ),
        *({**row, "model": model} for model in ("good", "twin") for row in good),
    ]
    for name, lines in (("t.jsonl", rows), ("r.jsonl", reference_rows(n))):
        Path(name).write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    command = ["grade", "t.jsonl", "--reference", "r.jsonl", "--sample", 0]
    with serving(script(truthful)) as server:
        configure(Path.cwd(), server.url)
        told(capsys, "init", ".")
        _code, out, _err = told(capsys, *command, "--judge", "scripted/judge")
        _code, plain, _err = told(capsys, *command, "--judge", "scripted/judge", "--json")
    ranks = re.findall(r"^(\d(?:-\d)?(?: [a-z])?) +(\w+) ", out, re.MULTILINE)
    assert ranks == [("1-2 a", "good"), ("1-2 a", "twin"), ("3", "poor")]
    assert "Rows that share a letter do not differ significantly (adjusted for all pairs)." in out
    ranked = json.loads(plain)["ranked"]
    names = [each["group"]["model"] for each in json.loads(plain)["measured"]]
    assert [names[group] for group in ranked["groups"]] == ["good", "twin", "poor"]
    assert ranked["ties"] == [[0, 1]]


def test_what_no_judge_was_heard_on_waits(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """No verdict is made of a failure, and the exit code says so; nor without a judge."""
    arguments = ["grade", files[0], "--reference", files[1], "--sample", 0]
    code, out, err = told(capsys, *arguments)
    assert code == 3
    assert f"{N * (10 + 6):,} triples need a judge: --judge PROVIDER/NAME" in err
    with serving(script(lambda text: None if "rumour" in text else truthful(text))) as server:
        configure(Path.cwd(), server.url)
        code, out, err = told(capsys, *arguments, "--judge", "scripted/judge", "--json")
    waiting = json.loads(out)["waiting"]
    assert (code, waiting > 0) == (3, True)
    (made,) = json.loads(out)["measured"]
    assert made["counts"]["precision"]["waiting"] + made["estimates"]["precision"]["n"] == 60


def test_verdicts_of_people_are_checked_and_those_of_other_triples_told(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["grade", files[0], "--reference", files[1], "--human-labels", "people.jsonl"]
    rows = [
        {"id": "a", "people": "maybe"}, {"id": "a", "is_true": "perhaps"},
        {"people": "neutral"}, {"id": "b", "people": "neutral"}, {"id": "b", "people": "neutral"},
        {"id": "b", "direction": "recall", "people": "covered"}, {"id": "", "people": ""},
        {"id": "c", "direction": "both", "people": "covered"},
    ]  # fmt: skip
    people = Path("people.jsonl")
    people.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    code, _out, err = told(capsys, *arguments)
    assert code == 2
    assert "line 1, field people: expected one of entailment, contradiction, neutral" in err
    assert "line 2, field is_true: expected true or false" in err
    assert "line 3, field id: is missing" in err
    assert "line 6, field id: occurs twice, with two verdicts" in err
    assert "line 8, field direction: expected one of precision, recall" in err
    people.write_text("\n".join(map(json.dumps, rows[3:5])) + "\n", encoding="utf-8")
    _code, out, _err = told(capsys, *arguments)
    assert "human labels on triples outside this sample: 1" in out


def test_a_dry_run_says_what_would_be_asked(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _err = told(
        capsys, "grade", files[0], "--reference", files[1], "--show", 1, "--sample", 20
    )
    assert code == 0
    assert out.startswith(
        "60 triples of 6 entities by 1 (model, setting); reference: 72 triples of 6 entities\n"
        "sampled: 20 elicited, 20 of the reference; decided by rule: same words "
    )
    assert "--- precision" in out
    assert "[passage 10 | begin" in out


def test_a_folder_of_texts_is_a_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file is named for its entity; precision needs no reference triples, recall has none."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "Ulm.txt").write_text("Ulm is in Germany.", encoding="utf-8")
    Path("t.csv").write_text("subject,predicate,object\nUlm,country,Germany\n", encoding="utf-8")

    def entails(_text: str) -> dict[str, Any]:
        return {"reason": "", "rests_on": "passage 1", "label": "entailment"}

    with serving(script(entails)) as server:
        configure(Path.cwd(), server.url)
        code, out, _err = told(
            capsys, "grade", "t.csv", "--reference", folder, "--judge", "scripted/judge",
            "--json",
        )  # fmt: skip
    (made,) = json.loads(out)["measured"]
    assert code == 0
    assert made["estimates"]["precision"]["value"] == 1.0
    assert "recall" not in made["estimates"]


def test_a_text_that_is_no_text_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts").mkdir()
    Path("texts/Ulm.txt").write_bytes(b"Ulm \xff\xfe is in Germany.")
    Path("t.csv").write_text("subject,predicate,object\nUlm,country,Germany\n", encoding="utf-8")
    code, _out, err = told(capsys, "grade", "t.csv", "--reference", "texts")
    assert code == 2
    assert "Ulm.txt" in err
    assert "UTF-8" in err
    Path("texts/Ulm.txt").unlink()
    code, _out, err = told(capsys, "grade", "t.csv", "--reference", "texts")
    assert (code, "the folder has no files" in err) == (2, True)


def test_problems_of_both_files_have_their_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("subject,predicate,object\n,,x\nUlm,,x\n", encoding="utf-8")
    Path("r.jsonl").write_text('{"entity": "Ulm", "text": "Ulm."}\n', encoding="utf-8")
    code, _out, err = told(capsys, "grade", "t.csv", "--reference", "r.jsonl")
    assert code == 2
    assert "line 2, field subject_name: is missing or empty" in err
    assert "line 3, field predicate: is missing or empty" in err
