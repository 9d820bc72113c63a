"""Define the options of ``run``, once for the command, run files and notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct

from proofstone.records.calls import CacheUse
from proofstone.records.items import CHUNK_TOKENS, SearchedTexts, SearchMethod
from proofstone.records.models import LOCAL
from proofstone.records.options import BUDGET_HELP, CACHE_HELP, Opt, options_in
from proofstone.records.verdicts import Majority

# Of one item's passages together, by cl100k_base: ten statements from passages of usual length.
MOST_TOKENS = 8000


DOCUMENT_TOKENS = 32_768  # of whole documents and search results, for a model of unknown window


CHUNKS = 5


# Options on judges: the first names models, the others how they decide.
JUDGING = ("judge", "votes", "orders", "quorum", "majority")


COUNTS = ("shots", "samples", "limit", "replicate")  # values of a layer other than settings


class RunOpt(Opt, frozen=True):
    """An option of ``run`` and what it applies to.

    ``of`` is "whole" (all runs), "asking" (single prompting methods and models), "setting" (sent to
    the model), or "command" (not in run files). ``expected`` describes the value in a run file if
    the type does not.
    """

    of: Literal["command", "asking", "setting", "whole"] = "whole"
    expected: str = ""


class RunAsked(Struct, frozen=True, kw_only=True):
    """Settings of runs: each field is an option, a run-file key and a keyword of ``run``."""

    models: Annotated[tuple[str, ...], RunOpt(
        "Model to evaluate; repeat it or use commas.", flags=("-m", "--model"),
        metavar="PROVIDER/NAME", of="command",
    )] = ()  # fmt: skip
    prompt_method: Annotated[tuple[str, ...], RunOpt(
        flags=("--prompt-method",), metavar="METHOD", of="command",
    )] = ()  # fmt: skip
    ranges: Annotated[tuple[str, ...], RunOpt(
        flags=("--range",), metavar="LOW-HIGH", of="command",
    )] = ()  # fmt: skip
    shots: Annotated[int, RunOpt(
        "Few-shot examples before each question.", flags=("--shots", "--num-fewshot"), least=0,
        shows_default=True, of="asking",
    )] = 0  # fmt: skip
    samples: Annotated[int, RunOpt(
        "Samples per question.", flags=("--samples", "--epochs"), least=1,
        shows_default=True, of="asking",
    )] = 1  # fmt: skip
    prompt_template: Annotated[Path | None, RunOpt(
        metavar="FILE", of="asking", expected="the path of a template",
    )] = None  # fmt: skip
    answer_format: Annotated[str | None, RunOpt(
        "Read answers in this format: the last match of a regular expression ('regex:Final: "
        "([A-D])') or a JSON path (json:$.answer). Other responses are unparsed. See "
        "docs/reference/extraction.md.",
        metavar="regex:PATTERN|json:PATH", of="setting", expected="regex:PATTERN or json:PATH",
    )] = None  # fmt: skip
    context: Annotated[tuple[str, ...], RunOpt(
        "Texts in the prompt: none (closed-book), evidence (open-book), retrieved (RAG), document "
        "(the whole source), or document+retrieved. Several values run each.",
        metavar="none|evidence|retrieved|document|document+retrieved",
    )] = ()  # fmt: skip
    context_tokens: Annotated[int | None, RunOpt(
        "Maximum tokens of these texts per question (default: 8000; for documents the model's "
        "window). A question with longer evidence or documents is left out.",
        metavar="N", least=1,
    )] = None  # fmt: skip
    context_chunks: Annotated[int, RunOpt(
        "With --context retrieved: maximum passages per question (default: 5).",
        metavar="N", least=1,
    )] = CHUNKS  # fmt: skip
    context_chunk_tokens: Annotated[int, RunOpt(
        "With --context retrieved: maximum tokens of one passage (default: 200).",
        metavar="N", least=8,
    )] = CHUNK_TOKENS  # fmt: skip
    context_within: Annotated[SearchedTexts, RunOpt(
        "With --context retrieved: search all sources, or only each question's own document "
        "(default: sources).",
    )] = "sources"  # fmt: skip
    context_search: Annotated[SearchMethod, RunOpt(
        "With --context retrieved: search by words, by embeddings, or both (default: bm25).",
    )] = "bm25"  # fmt: skip
    context_source: Annotated[tuple[str, ...], RunOpt(
        "With --context retrieved: search the workspace's sources or the web; "
        "searxng:bing+baidu names engines. Several values run each (default: local).",
        metavar="local|brave|google|searxng",
        expected=f"{LOCAL!r}, a search of the web, or several",
    )] = (LOCAL,)  # fmt: skip
    context_page_tokens: Annotated[int | None, RunOpt(
        "With a web search: show the first N tokens of each of the --context-chunks most relevant "
        "pages, instead of the best passages.",
        metavar="N", least=8,
    )] = None  # fmt: skip
    context_embedding_model: Annotated[str, RunOpt(
        "With --context-search dense or hybrid: embedding model (default: the bundled model).",
        flags=("--embedding-model",), metavar="PROVIDER/NAME", expected="the name of a model",
    )] = ""  # fmt: skip
    limit: Annotated[int | None, RunOpt(
        "Only use the first N questions.", least=1, of="asking",
    )] = None  # fmt: skip
    temperature: Annotated[float | None, RunOpt(
        "Sampling temperature.", least=0, most=2, of="setting",
    )] = None  # fmt: skip
    max_tokens: Annotated[int | None, RunOpt(
        "Maximum response length in tokens.", least=1, of="setting",
    )] = None  # fmt: skip
    stop: Annotated[tuple[str, ...], RunOpt(
        "Stop sequence (\\n is a line break; repeatable).",
        metavar="TEXT", of="setting", expected="a text or several",
    )] = ()  # fmt: skip
    reasoning_effort: Annotated[tuple[str, ...], RunOpt(
        "Reasoning effort, for models that support it; low,medium,high runs each.",
        metavar="EFFORT", of="setting",
    )] = ()  # fmt: skip
    reasoning_tokens: Annotated[int | None, RunOpt(
        "Reasoning budget, where an endpoint takes a number (models inspect/...). Others take "
        "--reasoning-effort.",
        metavar="N", least=1, of="setting",
    )] = None  # fmt: skip
    thinking: Annotated[tuple[str, ...], RunOpt(
        "Thinking mode of hybrid models; on,off runs both.",
        metavar="on|off", of="setting",
    )] = ()  # fmt: skip
    thinking_tokens: Annotated[int | None, RunOpt(
        "With --thinking on: additional response tokens (default: the model's entry, otherwise "
        "16384; 0 with --max-tokens).",
        metavar="N", least=0, of="setting",
    )] = None  # fmt: skip
    tools: Annotated[str | None, RunOpt(
        "Tools of the model: web-search is its provider's own search (models inspect/...).",
        metavar="web-search", of="setting", expected="web-search",
    )] = None  # fmt: skip
    blocked_hosts: Annotated[str | None, RunOpt(
        "With --tools web-search: hosts that the search must not show, such as the benchmark's "
        "own. Where a provider blocks none, reports flag responses that cite them.",
        metavar="HOST,...", of="setting", expected="hosts, with commas",
    )] = None  # fmt: skip
    extra: Annotated[tuple[str, ...], RunOpt(
        "Any other request setting, e.g. --set top_p=0.9.",
        flags=("--set",), metavar="NAME=VALUE", of="command",
    )] = ()  # fmt: skip
    replicate: Annotated[str, RunOpt(
        "Ignore cached responses; NAME tells replicates from each other.",
        metavar="NAME", of="asking",
    )] = ""  # fmt: skip
    cache: Annotated[CacheUse, RunOpt(CACHE_HELP, shows_default=True)] = "same"
    budget: Annotated[str, RunOpt(
        BUDGET_HELP, metavar="AMOUNT", expected='an amount such as "5USD" or "2Mtok"',
    )] = ""  # fmt: skip
    max_connections: Annotated[int | None, RunOpt("Concurrent requests.", least=1)] = None
    judge: Annotated[tuple[str, ...], RunOpt(
        "LLM judge for responses that no rule can grade; several models form a panel.",
        metavar="PROVIDER/NAME,...", expected="a model or several",
    )] = ()  # fmt: skip
    votes: Annotated[int, RunOpt(
        "Votes per judge; the majority is the judge's vote.", least=1, shows_default=True,
    )] = 1  # fmt: skip
    orders: Annotated[int, RunOpt(
        "Label-order permutations per judge vote, to reduce position bias (majority decides).",
        least=1, shows_default=True,
    )] = 1  # fmt: skip
    quorum: Annotated[int, RunOpt(
        "Judges of a panel that must have voted (default: all).", metavar="N", least=0,
    )] = 0  # fmt: skip
    majority: Annotated[Majority, RunOpt(
        "Panel decision rule: more than half of the votes cast, the most votes, or unanimity.",
        choices=("half", "most", "all"), shows_default=True,
    )] = "half"  # fmt: skip
    preset: Annotated[str, RunOpt(
        "Use a method's published settings, such as as-published; other options override them.",
        metavar="NAME", expected="the name of a preset",
    )] = ""  # fmt: skip


def names_of(*kinds: str, record: type[Struct] = RunAsked) -> tuple[str, ...]:
    """Return the fields of a record that apply to these (see ``RunOpt``), in order."""
    return tuple(
        name for name, _kind, option in options_in(record)
        if isinstance(option, RunOpt) and option.of in kinds
    )  # fmt: skip
