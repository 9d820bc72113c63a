"""From a folder of documents to a leaderboard, as people type it, and from its cell to the page."""

from __future__ import annotations

import re
import sys
import zipfile
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from debian_documents import DERIVATIONS, HANDBOOK, SANDWICH, debian_documents
from encyclo_k.scripted_author import Author
from proofstone.api import open_workspace
from proofstone.ingest.vision import NOTHING
from scripted_server import Act, Seen, answer
from serving import configure, serving
from told import Proofstone, page_with_files
from verbatim import check_verbatim

sys.path.insert(0, str(Path(__file__).parents[1] / "ingest"))

from printed import pdf, set_lines

METALS = (
    "Copper",
    "Silver",
    "AnswerKey",
    "Iron",
    "Zinc",
    "Tin",
    "Lead",
    "Nickel",
    "Cobalt",
    "Chrome",
)
ALLOYS = ("Brass", "Bronze", "Pewter", "Solder", "Nichrome", "Invar", "Steel", "Monel")
ENGLISH = "{0} of kind {1} conducts current because electrons of kind {1} move in its lattice."
CHINESE = "第{1}种{0}在常温下能够导电，因为其中的自由电子可以在晶格之间移动。"
ROLES = ("-m", "scripted/author", "--judge", "scripted/judge")


def sayings(names: Sequence[str], kind: str, text: str = ENGLISH) -> list[str]:
    return [text.format(name, kind) for name in names]


def page_sayings(number: int) -> list[str]:
    """What stands on a page; no two begin alike, or their first lines would be running heads."""
    turned = number % len(METALS)
    return sayings([*METALS[turned:], *METALS[:turned]], f"P{7 * number % 41}")


def write_documents(folder: Path, n_pages: int) -> Path:
    """A PDF of ``n_pages`` with running heads, a book of two chapters, a Chinese web page and a
    note in both languages, with a table of what is known of them."""
    folder.mkdir()
    pages = [page_sayings(number) for number in range(n_pages)]
    pdf(folder / "metals.pdf", [_page(rows, k) for k, rows in enumerate(pages, start=1)])
    _epub(folder / "alloys.epub", {"First": sayings(ALLOYS, "E1"), "Second": sayings(ALLOYS, "E2")})
    zh = "".join(f"<p>{text}</p>" for text in sayings(("铜", "银", "金", "铁"), "甲", CHINESE))
    (folder / "导电.html").write_text(
        f'<html lang="zh"><title>导电</title><main><h1>导电的金属</h1>{zh}</main></html>', "utf-8"
    )
    mixed = [*sayings(ALLOYS[:4], "M1"), *sayings(("锡", "锌", "铅", "镍"), "乙", CHINESE)]
    (folder / "both.md").write_text("# Both\n\n" + "\n\n".join(mixed) + "\n", "utf-8")
    (folder / "sources.csv").write_text(
        "file,title,licence,discipline,field,book\n"
        "metals.pdf,Metals,CC-BY-4.0,Engineering,Metallurgy,\n"
        "alloys.epub,Alloys,CC-BY-4.0,Engineering,Metallurgy,\n"
        "导电.html,导电,CC-BY-SA-4.0,Science,Physics,Web\n"
        "both.md,Both,CC0-1.0,Science,Physics,Web\n",
        "utf-8",
    )
    return folder


def _page(rows: Sequence[str], number: int) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        set_lines(canvas, ["A Handbook of Metals"], top=40.0)
        top = 100.0
        for row in rows:
            words = row.split()
            half = len(words) // 2
            top = set_lines(canvas, [" ".join(words[:half]), " ".join(words[half:])], top=top) + 14
        set_lines(canvas, [str(number)], top=800.0)

    return draw


def _epub(path: Path, chapters: dict[str, list[str]]) -> None:
    items, spine = "", ""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", "application/epub+zip")
        file.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="book.opf"/></rootfiles></container>',
        )
        for title, rows in chapters.items():
            body = "".join(f"<p>{row}</p>" for row in rows)
            file.writestr(f"{title}.xhtml", f"<html><body><h1>{title}</h1>{body}</body></html>")
            items += f'<item id="{title}" href="{title}.xhtml" media-type="application/xhtml+xml"/>'
            spine += f'<itemref idref="{title}"/>'
        file.writestr(
            "book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
            '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:language>en</dc:language>'
            f"</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
        )


class Everyone(Author):
    """The author and judge of the build, and a contestant who answers A."""

    def __call__(self, seen: Seen) -> Act:
        prompt = seen.json["messages"][-1]["content"]
        if "Exactly one option is right" in prompt or "只有一个选项是对的" in prompt:
            return answer("答案：A" if "只有" in prompt else "Answer: A")
        return super().__call__(seen)


def go(tmp_path: Path, proofstone: Proofstone, *, n_pages: int, questions: int) -> None:
    """Every step of the way, each by its command."""
    work = tmp_path / "work"
    documents = write_documents(tmp_path / "docs", n_pages)
    assert proofstone("init", work).code == 0
    read = proofstone("ingest", documents, "--meta", documents / "sources.csv", "-w", work)
    assert read.code == 0, read.err
    with open_workspace(work) as workspace:
        assert set(check_verbatim(workspace.store)) == {"Metals", "Alloys", "Both", "导电"}
    with serving(Everyone()) as server:
        configure(work, server.url)
        built = proofstone(
            "build", "statements", "Metals", "Alloys", "Web", *ROLES, "--statements", "20",
            "--alike", "0.95", "--name", "m", "--yes", "--json", "-w", work,
        )  # fmt: skip
        assert built.code == 0, built.err
        check_bank(work, n_pages)
        audit = proofstone("check", "m", "-w", work, "--json")
        assert (audit.code, audit.json["sources"]) == (0, 3)
        assert proofstone("build", "form", "m", "--questions", questions, "-w", work).code == 0
        asked_of_all(work, proofstone)
    board = proofstone("leaderboard", "m", "-w", work)
    assert f"{questions} questions" in board.out.splitlines()[0]
    assert "scripted/contestant" in board.out
    check_provenance(work, proofstone)
    page = tmp_path / "page.html"
    assert proofstone("report", "m", "-o", page, "-w", work).code == 0
    text = page_with_files(page)
    assert "scripted/contestant" in text
    assert "Scores by document" in text
    assert re.search(r'"[^"]*Metals \(pages? \d', text)  # of passages on pages
    board = proofstone("leaderboard", "m", "--by", "document", "-w", work).out
    assert re.search(r"^Metals +\d", board, re.MULTILINE)


def asked_of_all(work: Path, proofstone: Proofstone) -> None:
    """The form ``m`` asked of a scripted and a simulated respondent."""
    models = "scripted/contestant,sim/ann?ability=1"
    ran = proofstone("run", "m", "-m", models, "--yes", "-w", work)
    assert ran.code == 0, ran.err


def check_bank(folder: Path, n_pages: int) -> None:
    """Every sentence of the documents is a true statement of its own passage, and each has a false
    one of it; languages, taxonomy and hands are those of the documents and models."""
    with open_workspace(folder) as workspace:
        knowledge = workspace.store.knowledge
        (bank,) = workspace.store.lookup.every("bank")
        facts = knowledge.bank(bank.id).facts()
        passages = {fact.passage: knowledge.passage(fact.passage or b"") for fact in facts}
        roles = {role.role for fact in knowledge.built_facts(facts) for role in fact.roles}
    true = {fact.payload.text for fact in facts if fact.payload.correct}
    told = [text for number in range(n_pages) for text in page_sayings(number)]
    told += sayings(ALLOYS, "E1") + sayings(ALLOYS, "E2") + sayings(ALLOYS[:4], "M1")
    told += sayings(("铜", "银", "金", "铁"), "甲", CHINESE)
    told += sayings(("锡", "锌", "铅", "镍"), "乙", CHINESE)
    assert true == set(told)
    assert len(facts) == 2 * len(told)
    for fact in facts:
        passage = passages[fact.passage]
        assert passage is not None
        if fact.payload.correct:
            assert fact.payload.text in " ".join(passage.text.split())
        assert "Handbook" not in passage.text
    assert {fact.stratum.book for fact in facts} == {"Metals", "Alloys", "Web"}
    assert {fact.stratum.field for fact in facts} == {"Metallurgy", "Physics"}
    assert {fact.language for fact in facts} == {"en", "zh"}
    assert roles == {"wrote", "perturbed", "checked"}


def check_provenance(folder: Path, proofstone: Proofstone) -> None:
    """From a cell of the leaderboard by the ids that are shown: score, reply, question, statement,
    passage, page."""
    with open_workspace(folder) as workspace:
        store = workspace.store
        (key, _run), *_others = store.runs.every()
        current = store.scores.current(key)
        assert current is not None
        places = store.scores.places(current.key, "accuracy", ["answered"], None, 99)
        scores = [
            f"score:{current.id.hex()[:8]}/{store.traces.item_id(item).hex()[:8]}/{sample}"
            for item, sample in places
        ]
    pages = set()
    for score in scores:
        shown = proofstone("show", score, "-w", folder, "--json").json["ancestors"]
        by_kind = {each["kind"]: each["id"] for each in shown}
        assert {"response", "item", "fact", "passage", "source"} <= by_kind.keys()
        for each in shown:
            if each["kind"] == "passage":
                place = proofstone("show", each["id"], "-w", folder).out
                assert "characters " in place
                pages.add(" of 595 x 842 points" in place)
    assert pages == {True, False}  # of a PDF with its place on the page, of a web page without


def test_documents_become_a_bank_a_form_and_a_leaderboard(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """PDF, EPUB, HTML and Markdown in two languages, scripted models."""
    go(tmp_path, proofstone, n_pages=4, questions=6)


@pytest.mark.slow
def test_longer_documents_do_too(tmp_path: Path, proofstone: Proofstone) -> None:
    """A PDF of forty pages with heads and page numbers, which stand in no passage."""
    go(tmp_path, proofstone, n_pages=40, questions=40)


SAYS = re.compile(r"[A-Z\u4e00-\u9fff][^.。!?！？]{30,240}[.。]")
TURNED = {
    " is ": " is not ",
    " are ": " are not ",
    " can ": " cannot ",
    "可以": "不可以",
    "是": "不是",
}


class Reader(Everyone):
    """Reads scanned pages by the width of their pictures, takes sentences of real documents that
    can be turned into their contrary, and turns them."""

    def __init__(self, pages: Mapping[int, str]) -> None:
        super().__init__()
        self.pages = pages

    def __call__(self, seen: Seen) -> Act:
        content = seen.json["messages"][-1]["content"]
        if isinstance(content, str):
            return super().__call__(seen)
        png = b64decode(content[0]["image_url"]["url"].partition(",")[2])
        text = self.pages[int.from_bytes(png[16:20], "big")]
        return answer(f"<page>\n{text or NOTHING}\n</page>")

    def _extract(self, blocks: list[str]) -> object:
        rows = [" ".join(found.split()) for found in SAYS.findall(blocks[0])]
        rows = [row for row in rows if any(word in row for word in TURNED)]
        return {"statements": [{"title": row.split()[0], "text": row} for row in rows[:4]]}

    def _perturb(self, blocks: list[str]) -> object:
        text = blocks[0]
        old, new = next((pair for pair in TURNED.items() if pair[0] in text), (" ", " not "))
        return {
            "analysis": "what it says", "error_type": "detail falsification",
            "statement": text.replace(old, new, 1), "reason": "It says the contrary.",
        }  # fmt: skip


def cut_out(path: Path, first: int, n: int, to: Path) -> Path:
    """A few pages of a PDF."""
    import pypdfium2  # noqa: PLC0415 - in an extra

    with pypdfium2.PdfDocument(path) as whole:
        part = pypdfium2.PdfDocument.new()
        part.import_pages(whole, list(range(first - 1, first - 1 + n)))
        part.save(to)
        part.close()
    return to


def scanned(path: Path, to: Path) -> dict[int, str]:
    """The pages of a PDF as one TIFF of images, each of another width; their texts by the width."""
    import pypdfium2  # noqa: PLC0415 - in an extra

    texts, images = {}, []
    with pypdfium2.PdfDocument(path) as document:
        for place, page in enumerate(document):
            image = page.render(scale=1.5).to_pil().convert("L")
            image = image.resize((image.width + place, image.height))
            text = page.get_textpage().get_text_bounded().replace("\r\n", "\n")
            texts[image.width] = " ".join(text.replace("\ufffe\n", "").split())
            images.append(image)
    images[0].save(to, save_all=True, append_images=images[1:])
    return texts


def debian_folder(documents: Path, name: str) -> tuple[Path, dict[int, str]]:
    """A few pages of the Debian documents ``name`` in a folder; of scans what stands on them."""
    folder = documents / name
    folder.mkdir(parents=True)
    if name == "book":
        cut_out(debian_documents(DERIVATIONS), 716, 3, folder / "derivations.pdf")
    elif name == "paper":
        cut_out(debian_documents(SANDWICH) / "sandwich.pdf", 1, 4, folder / "sandwich.pdf")
    elif name == "scans":
        # The last of them is blank.
        pages = cut_out(debian_documents(DERIVATIONS), 716, 7, documents / "cut.pdf")
        return folder, scanned(pages, folder / "derivations-scanned.tiff")
    else:
        for page in ("apt", "sect.apt-get", "sect.backup", "foreword"):
            source = debian_documents(HANDBOOK, name) / f"{page}.html"
            (folder / f"{page}-{name}.html").write_bytes(source.read_bytes())
    return folder, {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["book", "paper", "scans", "en-US", "zh-CN"])
def test_documents_of_others_do_too(name: str, tmp_path: Path, proofstone: Proofstone) -> None:
    """A few pages of the Debian documents, and scans of such read by a vision model."""
    pytest.importorskip("PIL.Image", reason="needs the extra [ocr]")
    folder, pages = debian_folder(tmp_path / "docs", name)
    work = tmp_path / "work"
    assert proofstone("init", work).code == 0
    with serving(Reader(pages)) as server:
        configure(work, server.url, "card = { images = true }")
        reading = ("--license", "CC-BY-SA-4.0", "--book", name, "--ocr-model", "scripted/seer")
        read = proofstone("ingest", folder, *reading, "-w", work)
        assert read.code == 0, read.err
        with open_workspace(work) as workspace:
            assert check_verbatim(workspace.store).total() >= 4
        built = proofstone(
            "build", "statements", name, *ROLES, "--name", "m", "--yes", "--json", "-w", work
        )
        assert built.code == 0, built.out + built.err
        check_others(work, name)
        assert proofstone("build", "form", "m", "--questions", 4, "-w", work).code == 0
        asked_of_all(work, proofstone)
    board = proofstone("leaderboard", "m", "-w", work)
    assert "4 questions" in board.out.splitlines()[0]
    assert "scripted/contestant" in board.out


def check_others(folder: Path, name: str) -> None:
    """True statements stand in their passages, word for word; each has a false one; scans name
    their reader on the page that a statement leads to."""
    with open_workspace(folder) as workspace:
        store = workspace.store
        (bank,) = store.lookup.every("bank")
        facts = store.knowledge.bank(bank.id).facts()
        passages = {fact.passage: store.knowledge.passage(fact.passage or b"") for fact in facts}
        placed = store.pages.placed([passage for passage in passages if passage])
    true = [fact for fact in facts if fact.payload.correct]
    assert len(facts) == 2 * len(true) >= 20
    for fact in true:
        passage = passages[fact.passage]
        assert passage is not None
        assert fact.payload.text in " ".join(passage.text.split())
    assert "zh" in {fact.language for fact in facts} if name == "zh-CN" else True
    readers = {each.page.reader for each in placed.values()}
    assert ("vision 1 scripted/seer" in readers) == (name == "scans")
