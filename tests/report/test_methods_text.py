"""The methods paragraph: all that is recorded and nothing else, what is not known included."""

from __future__ import annotations

from pathlib import Path

from proofstone.results.audit.audit import Asked, audit_files
from proofstone.results.methods_paragraph import methods_text
from proofstone.results.page import render_page
from proofstone.results.page_parts import (
    AskedAs,
    BankUsed,
    FormShown,
    Manifest,
    PageData,
    Provenance,
    RecordedRole,
)
from proofstone.results.rankings import leaderboard
from proofstone.wording.messages import speaking
from report.made_up import MEASURES, table_of, two_small

MANIFEST = Manifest(
    method="Encyclo-K: dynamically composed knowledge statements",
    banks=(BankUsed("elements", 4360),),
    asked=(
        AskedAs(
            name="acme/large", prompt_method="direct", samples=2, settings=(("temperature",
            "0.0"),),
            dropped=("seed",), reported=("acme-large-2026",), first="2026-11-20 10:00 UTC",
            last="2026-11-20 10:40 UTC",
        ),
        AskedAs(name="acme/small", prompt_method="cot", shots=3,
        own_prompt="mine.jinja (3f2a91bc)"),
    ),
    scorers=(1,),
    judges=("acme/judge",),
    roles_held=(RecordedRole("wrote", "acme/large", 12),),
)  # fmt: skip

ASKED = (
    "The evaluation used 60 items of elements-7f3a (id 7f3a000000000000). They were composed by "
    "the "
    "Encyclo-K method from the bank elements (4,360 facts) with seed 40. Parameters: options 4-8. "
    "Models that helped write or filter the items: acme/large wrote 12 items. Prompting method "
    "direct, 2 responses per item: acme/large. Settings: temperature 0.0. Not accepted by the "
    "endpoint: seed. Prompting method cot with 3 examples in the prompt, one response per item: "
    "acme/small. The prompt template is custom (mine.jinja (3f2a91bc)). Settings: none. Model "
    "versions reported by the endpoints: acme/large as acme-large-2026. Responses were collected "
    "from 2026-11-20 10:00 UTC to 2026-11-20 10:40 UTC."
)
SCORED = (
    "Responses were parsed and scored by version 1 of the method's scorer and graded by "
    "acme/judge. The measure is accuracy. Its denominator is all replies. Score of each outcome: "
    "answered: its score, refused: 0, unparsed: 0, truncated: 0. Of 120 responses: 4 truncated, 9 "
    "unparsed and 0 refused."
)
COMPUTED = (
    "Ranked: 2 configurations, on 60 items. The 95% confidence intervals (Wilson) refer to the "
    "domain of this item bank; the sampling unit is the item. Every item has equal weight. Random "
    "seed of all resampling: 7. The analysis was not preregistered; all of it is exploratory. "
    "Computed with proofstone 0.1.0."
)
UNKNOWN = (
    "The endpoint did not report the model version of acme/small. Where temperature, top_p, "
    "max_tokens was not sent or not accepted, the endpoint's default applied, which is not known. "
    "For some intervals, the facts behind the items are unknown, so items were treated as "
    "independent. It is not known whether these items were in the models' training data."
)


def page_of(manifest: Manifest | None) -> PageData:
    return PageData(
        title="Elements",
        board=leaderboard(two_small(), MEASURES, "accuracy"),
        provenance=Provenance(version="0.1.0", made_at="2026-11-21 02:30 UTC"),
        manifest=manifest,
        forms=(
            FormShown(
                name="elements-7f3a", id="7f3a" + 60 * "0", n_items=60, seed=40,
                recipe=(("options", "4-8"),),
            ),
        ),
        seed=7,
    )  # fmt: skip


def test_a_run_is_told_whole() -> None:
    """Items, respondents alike together, scoring, statistics, and what nobody knows."""
    assert methods_text(page_of(MANIFEST)) == (ASKED, SCORED, COMPUTED, UNKNOWN)


def test_a_page_shows_it_and_says_that_nothing_was_fixed_beforehand() -> None:
    """In a section of its own, from which it is copied."""
    page = render_page(page_of(MANIFEST))
    assert '<h2 id="methods">Methods</h2>' in page
    assert "<summary>Methods text</summary>" in page
    assert f"<p>{SCORED.replace(chr(39), '&#39;')}</p>" in page
    said = "No analysis plan was registered, so every comparison on this page is exploratory."
    assert page.count(said) == 1


def test_nothing_is_told_where_nobody_was_scored() -> None:
    """No paragraph about nothing."""
    empty = leaderboard(table_of([], [], n_units=0), MEASURES, "accuracy")
    provenance = Provenance(version="0.1.0", made_at="2026-11-21 02:30 UTC")
    data = PageData(title="Elements", board=empty, provenance=provenance)
    assert methods_text(data) == ()
    assert "Methods text" not in render_page(data)


def test_of_others_results_the_files_are_told_and_what_is_not_known(tmp_path: Path) -> None:
    """Their columns as they were taken; how models were asked is no part of such files."""
    (tmp_path / "r.csv").write_text("qid,a,b\n1,1,0\n2,1,1\n", encoding="utf-8")
    told = audit_files([tmp_path / "r.csv"], Asked()).methods
    assert told[0] == (
        "The scores were read from 1 file of results. r.csv (wide table) holds 2 items, 2 models, "
        "4 scores. Its columns were read as: item: qid; models: a, b."
    )
    assert told[-1].startswith("Not recorded: prompts, settings, dates")


def test_it_is_told_in_chinese() -> None:
    """Every sentence of this module's own; names and settings stay."""
    with speaking("zh"):
        told = methods_text(page_of(MANIFEST))
    assert told[0].startswith("评测使用试卷 elements-7f3a")
    assert not [text for text in told if "Responses" in text or "known" in text]
