"""Presets against what the papers print, read from their texts where these are at hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from proofstone.method import find_method
from proofstone.methods.bequ.ask import ranges, schema_predicates
from proofstone.records.items import STATUSES, Choice

PAPERS = Path(__file__).resolve().parents[2].parent / "shared" / "papers"
needs_papers = pytest.mark.skipif(
    not PAPERS.is_dir(), reason="the texts of the papers are not carried with the project"
)


def text_of(name: str) -> str:
    return (PAPERS / name).read_text(encoding="utf-8")


def choices(method: str, preset: str = "as-published") -> dict[str, Choice]:
    return {choice.what: choice for choice in find_method(method).presets[preset].choices}


def values(method: str, preset: str = "as-published") -> dict[str, Any]:
    return {each.parameter: each.value for each in choices(method, preset).values()}


@pytest.mark.parametrize(
    ("method", "preset"),
    [
        (name, preset)
        for name in ("encyclo_k", "bequ", "chinese_simpleqa")
        for preset in find_method(name).presets
    ],
)
def test_each_preset_says_what_follows_the_paper_what_is_open_and_what_differs(
    method: str, preset: str
) -> None:
    """A difference has its reason, and nothing else has one."""
    found = choices(method, preset)
    assert {each.status for each in found.values()} == set(STATUSES)
    assert all(bool(each.why) == (each.status == "ours") for each in found.values())


@needs_papers
def test_encyclo_k_has_the_paper_s_constants() -> None:
    """Ranges of section 4.1, counts of Table 2 and of the lists of appendix A.3."""
    text, found, told = text_of("encyclo-k.txt"), values("encyclo_k"), choices("encyclo_k")
    assert re.search(r"comprises 8 to 10 knowledge statements and provides 4 to 8 candidate", text)
    assert re.search(r"combining 2 to 4 statements", text)
    assert (found["statements"], found["options"], found["combination"]) == ("8-10", "4-8", "2-4")
    total, english, chinese = re.findall(r"^Overall (\d+) (\d+) (\d+) 16474", text, re.MULTILINE)[0]
    assert told["number of questions"].published.startswith(f"{int(total):,}")
    assert f"{int(chinese):,} Chinese" in told["sentences of Chinese questions"].published
    assert int(english) + int(chinese) == int(total)
    printed = text[text.index("QUESTION_TEMPLATES = [") : text.index("Example: Constructed")]
    templates, words = printed.split("ACCURACY_TEMPLATES = ")
    n_sentences = templates.count("{accuracy}")
    correct, incorrect = re.findall(r"\[([^\]]*)\]", words)
    n_words = {correct.count('"') // 2, incorrect.count('"') // 2}
    assert n_words == {10}
    assert templates.isascii()  # English alone
    published = told["sentences of questions"].published
    assert published.startswith(f"{n_sentences} sentences and 10 words each")
    assert published.endswith("printed in English")
    assert n_sentences == 13
    request = text[text.index("Template: Question Assembly") : text.index("predefined question")]
    assert "analyze each statement and option" in request
    assert request.index("Answer: $LETTER") < request.index("{statement list}")
    assert found["prompt_method"] == "as-published"
    assert find_method("encyclo_k").settings("as-published")["max_tokens"] == found["max_tokens"]


@needs_papers
def test_no_sentence_of_the_papers_prompts_is_carried() -> None:
    """Ours ask the same in other words."""
    text = text_of("encyclo-k.txt")
    printed = re.findall(r'"([^"]*\{accuracy\}[^"]*)"', text)
    folder = Path(__file__).parents[2] / "src" / "proofstone" / "methods"
    ours = "\n".join(
        path.read_text(encoding="utf-8") for path in folder.rglob("prompts/*") if path.is_file()
    ).lower()
    assert len(printed) == 13
    for sentence in printed:
        words = sentence.split("{knowledge_list}")[0].strip().lower()
        assert words.replace("{accuracy}", "{wording}") not in ours
    for part in ("please carefully analyze", "end your response with", "answer the following"):
        assert part in text.lower()
        assert part not in ours


@needs_papers
def test_chinese_simpleqa_has_the_paper_s_constants() -> None:
    """Sizes of Figure 1, the judge of 4.1, best of N of 4.5, the range of confidences."""
    text, told = text_of("chinese-simpleqa.txt"), choices("chinese_simpleqa")
    total = int(re.findall(r"^Total\s+(\d+)", text, re.MULTILINE)[0])
    assert told["questions"].published.startswith(f"{total:,} questions of 6 topics and 99")
    assert "6 major topics with 99" in text
    (judge,) = re.findall(r"The judge model we use is ([\w-]+)\.", text)
    assert told["judge"].published.startswith(judge)
    assert "openai/gpt-4o" in told["judge"].here
    n, times = re.findall(r"sample (\d+) samples .* answer (\d+) times", text)[0]
    assert told["best of N"].published == f"{n} questions, {times} answers each"
    assert told["best of N"].here.startswith(f"--limit {n} --samples {times}")
    assert "official configuration or default" in text
    assert "temperature" not in values("chinese_simpleqa")
    assert "temperature" not in find_method("chinese_simpleqa").settings("as-published")
    assert "confidence_score" in text
    assert "confidence_score from 0 to 100" in told["stated confidence"].published
    assert re.search(r"use the same prompt format in all experiments", text)
    assert values("chinese_simpleqa")["prompt_method"] == "as-published"


@needs_papers
def test_bequ_has_the_published_constants() -> None:
    """Sampling, closed lists, factors of the ranges, efforts, samples and seed."""
    text = text_of("bequ_constants.md")
    for name in find_method("bequ").presets:
        found = values("bequ", name)
        assert found["temperature"] == float(re.findall(r"Temperature (\d)", text)[0])
        assert found["recall"] == "together"
        (sample,) = set(re.findall(r"(\d+) triples a model and direction", text))
        assert found["sample"] == int(sample)
        assert found["seed"] == int(re.findall(r"seed (\d+)", text)[0])
        assert found.get("sample_per", "all") == {
            "domains": "domain", "popularity": "popularity",
        }.get(name, "all")  # fmt: skip
        told = choices("bequ", name)
        for number in re.findall(r"first (\d+) characters|about ([\d,]+) words", text):
            kept = told["reference"].published + told["passages that a judge sees"].published
            assert "".join(number) in kept
        assert "Llama-4-Scout-17B-16E-Instruct" in told["judge"].published
        assert "3,000 tokens" in told["judge"].published
        assert "4,096 / 10,000 / 15,000" in text
        assert "low 4,096, medium 10,000, high 15,000" in told["longest reply"].published
    assert "the ranking takes medium" in text
    assert values("bequ", "random")["reasoning_effort"] == "medium"
    assert values("bequ", "effort")["reasoning_effort"] == ["low", "medium", "high"]
    for schema, heading in (("wikidata", "Wikidata, 50"), ("schema-org", "Schema.org, 25")):
        listed = re.findall(rf"^- {heading}: (.*)\.$", text, re.MULTILINE)[0]
        assert list(schema_predicates(schema)) == listed.split("; ")
    assert len(values("bequ", "prompts")["prompt_method"]) == 8
    assert "**Eight prompts**" in text
    (ranged,) = re.findall(r"\(0\.1, 0\.2, 0\.5, 0\.66, 1\.5, 2\): (.*)\.$", text, re.MULTILINE)
    published = [tuple(part.split(" / ")) for part in ranged.split("; ")]
    ours = [
        ("-".join(map(str, each.known)), "-".join(dict.fromkeys(map(str, each.little_known))))
        for each in list(ranges().values())[1:]
    ]
    assert ours == published
    names = [
        prompt_method.partition("@")[2]
        for prompt_method in values("bequ", "ranges")["prompt_method"][1:]
    ]
    assert names == [known for known, _little in published]
