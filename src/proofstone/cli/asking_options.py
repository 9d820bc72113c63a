"""The options of commands that ask models: what is sent with each request, and how much of it."""

from __future__ import annotations

from pathlib import Path

import click

from proofstone.cli.declared import PromptOption, RangeOption, WayOption
from proofstone.cli.options import budget_option, cache_option, with_options

__all__ = [
    "connections_option",
    "max_tokens_option",
    "model_options",
    "reasoning_option",
    "setting_option",
    "temperature_option",
]

temperature_option = click.option(
    "--temperature", type=click.FloatRange(0, 2), help="Sampling temperature."
)
max_tokens_option = click.option(
    "--max-tokens", type=click.IntRange(1), help="Longest reply, in tokens."
)
reasoning_option = click.option(
    "--reasoning-effort", metavar="EFFORT", help="For models that take it."
)
setting_option = click.option(
    "--set", "extra", multiple=True, metavar="NAME=VALUE",
    help="Any other setting to send, e.g. --set top_p=0.9.",
)  # fmt: skip
connections_option = click.option(
    "--max-connections", type=click.IntRange(1), help="Requests at once."
)
# The options of every command that asks a contestant.
model_options = with_options(
    click.option(
        "-m", "--model", "models", multiple=True, metavar="PROVIDER/NAME",
        help="A model to ask; repeat it or use commas.",
    ),
    click.option(
        "--ask", "--prompt-set", "ways", multiple=True, metavar="WAY", cls=WayOption,
    ),
    click.option(
        "--range", "ranges", multiple=True, metavar="LOW-HIGH", cls=RangeOption,
    ),
    click.option(
        "--shots", "--num-fewshot", type=click.IntRange(0), default=0, show_default=True,
        help="Worked examples before each question.",
    ),
    click.option(
        "--samples", "--epochs", type=click.IntRange(1), default=1, show_default=True,
        help="Times that each question is asked.",
    ),
    click.option(
        "--prompt", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
        cls=PromptOption,
    ),
    click.option(
        "--answer-format", metavar="regex:PATTERN|json:PATH",
        help="Read each answer in this format: the last match of a regular expression "
        "('regex:Final: ([A-D])') or a JSON path (json:$.answer). A response without it is "
        "unparsed. See docs/extraction.md.",
    ),
    click.option(
        "--context", "contexts", multiple=True, metavar="none|evidence|retrieved",
        help="evidence puts the passages that a question rests on into its prompt: it then "
        "measures reading, without them memory. retrieved puts what a search of the sources finds "
        "for it. none,evidence asks in both ways.",
    ),
    click.option(
        "--context-tokens", type=click.IntRange(1), metavar="N",
        help="Most tokens of one question's passages; one with more is left out, since a "
        "passage is never cut; of what is retrieved the best that fit. Default: 8000.",
    ),
    click.option(
        "--context-chunks", type=click.IntRange(1), metavar="N",
        help="With --context retrieved: the most pieces of text for a question. Default: 5.",
    ),
    click.option(
        "--context-search", type=click.Choice(["bm25", "dense", "hybrid"]),
        help="With --context retrieved: search by words, by meaning, or by both. Default: bm25.",
    ),
    click.option(
        "--context-source", "context_sources", multiple=True,
        metavar="local|brave|google|searxng",
        help="With --context retrieved: search the workspace's own sources, or the web; "
        "searxng:bing+baidu names engines. Several ask everything once with each. Default: local.",
    ),
    click.option(
        "--embedder", "context_embedder", metavar="PROVIDER/NAME",
        help="With --context-search dense or hybrid: this model behind /embeddings makes the "
        "vectors. Default: the carried encoder.",
    ),
    click.option("--limit", type=click.IntRange(1), help="Ask only the first questions."),
    temperature_option,
    max_tokens_option,
    click.option(
        "--stop", multiple=True, metavar="TEXT",
        help="End a reply at this text (\\n is a line break); repeat it.",
    ),
    click.option(
        "--reasoning-effort", "efforts", multiple=True, metavar="EFFORT",
        help="For models that take it; low,medium,high asks everything with each.",
    ),
    click.option(
        "--thinking", multiple=True, metavar="on|off",
        help="Tell hybrid models to think or not; on,off asks everything in both ways.",
    ),
    click.option(
        "--thinking-tokens", type=click.IntRange(0), metavar="N",
        help="With --thinking on, let a reply be N tokens longer. Default: what the model's "
        "entry says, else 16384; 0 where --max-tokens is given.",
    ),
    setting_option,
    click.option("--replicate", default="", metavar="NAME", help="Ask afresh, past the cache."),
    cache_option,
    budget_option,
    connections_option,
)  # fmt: skip
