"""Questions beside their pages as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

__all__ = ["Beside", "QuestionBeside", "beside_page"]


class Beside(Struct, frozen=True, kw_only=True):
    """A passage that a question rests on, within the page that it stands on: the page's text
    before and after it, as far as that is shown."""

    title: str
    page: str
    heading: str
    before: str
    text: str
    after: str


class QuestionBeside(Struct, frozen=True, kw_only=True):
    """A question as people read it, its answer marked, with what it rests on."""

    text: str
    rests_on: tuple[Beside, ...]


def beside_page(title: str, questions: Sequence[QuestionBeside]) -> str:
    """The page; texts of documents and questions are escaped, and no script stands in it."""
    from jinja2 import Environment, PackageLoader  # noqa: PLC0415 - heavy

    from proofstone.wording import language_tag, say  # noqa: PLC0415

    environment = Environment(
        loader=PackageLoader("proofstone.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template = environment.get_template("beside.html.jinja")
    style = environment.get_template("beside.css.jinja").render()
    return template.render(
        title=title, questions=questions, style=style, say=say, language=language_tag()
    )
