"""Scripts of pages in modular pieces, the texts that they show, and pages of questions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Literal

from markupsafe import Markup, escape
from msgspec import Struct

from proofstone.texts.formulas import Piece, mathml, pieces
from proofstone.wording.messages import language_tag, noted, say, word

# In this order: the last one starts the others.
_PIECES = (
    "says",
    "sorting",
    "filtering",
    "asking",
    "copying",
    "regions",
    "phone",
    "contents",
    "page",
)


# Pieces of pages with browsers: of items, and of entities and verdicts.
ITEM_SCRIPT = ("tabs", "pieces", "browsing", "items")


TRIPLE_SCRIPT = ("tabs", "pieces", "browsing", "triples")


@cache
def page_script(*more: str) -> str:
    """Return all pieces as the text of one module, with ``more`` pieces at its end."""
    folder = resources.files(__package__) / "script"
    names = (*_PIECES, *more)
    return "\n".join((folder / f"{name}.js").read_text(encoding="utf-8") for name in names)


# Texts of the script, which fills the placeholders in braces itself.
_WORDS = {
    "search": noted("Search"),
    "any": noted("any"),
    "reset": noted("Reset"),
    "all-rows": noted("{all} rows"),
    "shown-rows": noted("{shown} of {all} rows"),
    "only": noted("Only: {what}"),
    "copy": noted("Copy"),
    "copied": noted("Copied"),
    "selected": noted("Selected: copy it now"),
    "more": noted("more"),
    "tools": noted("Search and filter: {name}"),
}


_BROWSING_WORDS = {
    "after": noted("Next 50"),
    "before": noted("Previous 50"),
    "loading": noted("Loading"),
    "missing": noted(
        "{file} is missing or belongs to another page. Keep the folder next to the page that "
        "it was written with, or write the page again."
    ),
    "broken": noted("The rows cannot be shown: {what}. Write the page again."),
    "narrowed": noted("Only {what}: show all again"),
    "none": noted("No match: 0 of {all}"),
    "sort": noted("sort by"),
    "model": noted("model"),
}


_ITEM_WORDS = {
    "of-items": noted("{first} to {last} of {shown} items"),
    "item": noted("item"),
    "item-id": noted("item ID"),
    "copy-id": noted("Copy ID"),
    "key": noted("answer key"),
    "discrimination": noted("discrimination"),
    "flag": noted("flag"),
    "unflagged": noted("not flagged"),
    "outcome": noted("outcome"),
    "any-model": noted("any model"),
    "document": noted("document"),
    "mean-score": noted("mean score"),
    "prompt": noted("prompt"),
    "source": noted("source passage"),
    "response": noted("response"),
    "extracted": noted("extracted answer"),
    "open": noted("Open"),
    "sort-order": noted("original order"),
    "sort-hard": noted("lowest score first"),
    "sort-low": noted("lowest discrimination first"),
}


_TRIPLE_WORDS = {
    "against": noted("contradicted"),
    "article": noted("article"),
    "checked": noted("checked"),
    "direction": noted("direction"),
    "domain": noted("domain"),
    "entities": noted("{first} to {last} of {shown} entities"),
    "entity": noted("entity"),
    "family": noted("predicate family"),
    "nonexistent": noted("nonexistent"),
    "kind": noted("kind"),
    "known": noted("source in the reference"),
    "links": noted("links"),
    "popularity": noted("popularity"),
    "real": noted("real"),
    "reason": noted("reason"),
    "response": noted("response"),
    "rests-on": noted("evidence passage"),
    "said": noted("elicited reference triples"),
    "setting": noted("setting"),
    "supported": noted("supported"),
    "triple": noted("triple"),
    "triples": noted("Its triples"),
    "trouble": noted("trouble"),
    "unsaid": noted("not said"),
    "unsampled": noted("No triple of it is in the sample."),
    "verdict": noted("verdict"),
    "verdicts": noted("{first} to {last} of {shown} triples"),
}


def script_words(browses: Literal["items", "triples"] = "items") -> Markup:
    """Return the words of the script as attributes ``data-says-...`` of an element, with those of
    the browser that the page has."""
    own = _ITEM_WORDS if browses == "items" else _TRIPLE_WORDS
    return Markup(" ").join(
        Markup('data-says-{}="{}"').format(name, word(said))
        for name, said in {**_WORDS, **_BROWSING_WORDS, **own}.items()
    )


def with_formulas(text: str) -> Markup:
    """Return a text as HTML in which formulas are MathML; those that do not convert stay LaTeX."""
    return Markup("").join(map(_piece, pieces(text)))


def _piece(piece: Piece) -> Markup:
    if piece.opens:
        with suppress(ValueError):
            converted = mathml(piece.text, display=piece.opens in {"$$", r"\["})
            return Markup(converted)  # noqa: S704 - elements of MathML alone
    return escape(piece.whole)


# Questions next to their source pages, as one self-contained page.


class Beside(Struct, frozen=True, kw_only=True):
    """A source passage of a question within its page, with the text before and after it."""

    title: str
    page: str
    heading: str
    before: str
    text: str
    after: str


class QuestionBeside(Struct, frozen=True, kw_only=True):
    """A question with its answer key marked, and its source passages."""

    text: str
    rests_on: tuple[Beside, ...]


def beside_page(title: str, questions: Sequence[QuestionBeside]) -> str:
    """Return the page; texts of documents and questions are escaped, and it has no script."""
    from jinja2 import Environment, PackageLoader  # noqa: PLC0415 - heavy

    environment = Environment(
        loader=PackageLoader("proofstone.page", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template = environment.get_template("beside.html.jinja")
    style = environment.get_template("beside.css.jinja").render()
    return template.render(
        title=title, questions=questions, style=style, say=say, language=language_tag(),
        with_formulas=with_formulas,
    )  # fmt: skip
