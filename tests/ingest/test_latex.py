"""LaTeX source: what it says as text, formulas as TeX; files within its folder, and no others."""

from __future__ import annotations

import io
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_files import blocks_of, read_all, read_here, read_one

from proofstone.documents.folders import find_files
from proofstone.documents.latex import read_latex
from proofstone.documents.reader import Job, Opened, PageRead, Refused
from proofstone.errors import BadInput

MAIN = r"""\documentclass{article}
% \input{nothing}
\usepackage{amsmath,own}
\newcommand{\R}{\mathbb{R}}
\newcommand{\norm}[1]{\left\lVert#1\right\rVert}
\newcommand{\alloy}[2][tin]{#1 with \emph{#2}}
\newcommand{\be}{\begin{equation}} \newcommand{\ee}{\end{equation}}
\def\pair#1#2{(#1, #2)}
\newtheorem{thm}{Theorem}[section]
\newif\ifdraft
\title{On \emph{Metals}\thanks{Funded.}}
\author{A. Founder\\Mint \and B. Sm\'{\i}th}
\date{April 2019}
\begin{document}
\maketitle
\section{Copper}\label{sec:cu}
Copper melts at $1085\,^{\circ}$C -- or \SI{1358}{\kelvin}\footnote{In \textbf{air},
see~\cite{a,b}.} --- and ``carries'' better than tin% no space
ned \alloy{zinc} and \alloy[lead]{zinc}, $\norm{x}<\R$, \pair{a}{b}, \own{x}, \verb|a_b%|.

\ifdraft Draft. \else Final, see Section~\ref{sec:cu}. \fi Caf\'e na\"ive \c{c}a \url{http://a.b/%7E}.
\be E = mc^2, x\in\R \label{eq:1} % hidden
\ee
where $m$ is mass.
\begin{align*} a &= b \\ c &= \norm{d} \end{align*}
\subsection*{Ores}
\begin{enumerate}
\item first \begin{itemize}\item inner \item other\end{itemize}
\item[(b)] second
\end{enumerate}
\begin{thm}[Founder] Every metal melts.\end{thm}
\begin{table}\caption{Melting \textit{points}.}
\begin{tabular}{l|c}\toprule Metal & \multicolumn{1}{c}{$T$} \\ \midrule
Tin & 232 \\ Lead \& alloys & {a & b} \\[2pt] \bottomrule\end{tabular}\end{table}
\begin{figure}\includegraphics[width=3cm]{x.png}\caption{A furnace.}\end{figure}
\begin{verbatim}
x = 1 % kept
\end{verbatim}
\input{parts/two}
\bibliography{refs}
\end{document}
behind the end"""
FILES = {
    "main.tex": MAIN,
    "parts/two.tex": "\\section{Tin}\nTin melts at 232.\n",
    "own.sty": "\\NeedsTeXFormat{LaTeX2e}\\newcommand{\\own}[1]{own #1 thing}",
    "main.bbl": "\\begin{thebibliography}{9}\\bibitem{a} A. Foo. \\newblock On {\\em X}, 2010.\n"
    "\\bibitem[B]{b} B. Bar.\\end{thebibliography}",
}
BLOCKS = [
    ("heading", "Copper"),
    (
        "text",
        "Copper melts at $1085\\,^{\\circ}$C – or 1358 kelvin¹ — and “carries” better than tinned "
        "tin with zinc and lead with zinc, $\\left\\lVert x\\right\\rVert<\\mathbb{R}$, (a, b), "
        "own x thing, a_b%.",
    ),
    ("text", "Final, see Section [sec:cu]. Café naïve ça http://a.b/%7E."),
    ("equation", "E = mc^2, x\\in\\mathbb{R}"),
    ("text", "where $m$ is mass."),
    (
        "equation",
        "\\begin{align*} a &= b \\\\ c &= \\left\\lVert d\\right\\rVert \\end{align*}",
    ),
    ("note", "¹ In air, see [a, b]."),
    ("heading", "Ores"),
    ("list", "1. first\n  - inner\n  - other\n(b) second"),
    ("text", "Theorem (Founder). Every metal melts."),
    ("caption", "Melting points."),
    ("table", "Metal | $T$\nTin | 232\nLead & alloys | a b"),
    ("figure", ""),
    ("caption", "A furnace."),
    ("code", "x = 1 % kept"),
    ("heading", "Tin"),
    ("text", "Tin melts at 232."),
    ("heading", "References"),
    ("contents", "[1] A. Foo. On X, 2010."),
    ("contents", "[2] B. Bar."),
]


def written(folder: Path, **changed: str) -> Path:
    """The document in a folder; more files by their names, with __ for a slash and - for a dot."""
    more = {name.replace("__", "/").replace("_tex", ".tex"): text for name, text in changed.items()}
    for name, text in {**FILES, **more}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "main.tex"


def document(body: str, preamble: str = "") -> str:
    return f"\\documentclass{{article}}{preamble}\\begin{{document}}{body}\\end{{document}}"


def tar(path: Path, files: dict[str, str], mode: str) -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_a_document_is_read_as_what_it_says(tmp_path: Path) -> None:
    """Macros written out, formulas kept, references in no passage, comments and preamble gone."""
    opened, (page,) = read_one(written(tmp_path))
    assert blocks_of(page) == [block for block in BLOCKS if block[1]]
    assert (opened.title, opened.authors, opened.year, opened.language) == (
        "On Metals", ("A. Founder", "B. Smíth"), 2019, "en",
    )  # fmt: skip
    (read,) = read_latex(tmp_path / "main.tex")
    assert [(block.kind, block.text) for block in next(iter(read.pages))] == BLOCKS
    passages = [page.text[start:end] for start, end, *_ in page.cuts]
    assert passages[-1] == "Tin melts at 232."
    assert page.cuts[-1][2] == ((1, "Tin"),)


@pytest.mark.parametrize("name", ["a.tar.gz", "a.tar", "a.tgz", "a.zip"])
def test_an_archive_is_read_as_its_folder(tmp_path: Path, name: str) -> None:
    """From its first text that begins a document; what lies outside it is not there."""
    files = {f"paper/{inside}": text for inside, text in FILES.items()} | {"../evil.tex": MAIN}
    path = tmp_path / name
    made = zipped(path, files) if name == "a.zip" else tar(
        path, files, "w" if name == "a.tar" else "w:gz"
    )  # fmt: skip
    (page,) = read_here(made)
    assert page.text == read_here(written(tmp_path))[0].text


def test_parts_of_a_document_are_no_documents_and_their_change_is_one_of_it(
    tmp_path: Path,
) -> None:
    """A folder gives one document; its digest is that of all its files."""
    written(tmp_path, notes__alone_tex=document("By itself."))
    found = find_files([tmp_path])
    assert [file.inside for file in found.files] == ["main.tex", "notes/alone.tex"]
    assert found.files[1].root == tmp_path
    assert found.others == {".bbl": 1, ".sty": 1, ".tex (parts of others)": 1}
    before, _pages = read_one(tmp_path / "main.tex")
    (tmp_path / "parts" / "two.tex").write_text("Tin melts at 231.9.", encoding="utf-8")
    after, _pages = read_one(tmp_path / "main.tex")
    assert len(before.content) == 32
    assert before.content != after.content


def test_what_a_text_inputs_may_stand_in_the_folder_that_was_named(tmp_path: Path) -> None:
    path = written(tmp_path, deep__main_tex=document(r"\input{../parts/two}")).parent / "deep"
    (outside,), (opened, page) = read_all(
        [Job(path=str(path / "main.tex")), Job(path=str(path / "main.tex"), root=str(tmp_path))]
    )
    assert isinstance(outside, Refused)
    assert outside.message == "main.tex inputs ../parts/two.tex, which is outside its folder"
    assert isinstance(opened, Opened)
    assert isinstance(page, PageRead)
    assert page.text == "Tin\n\nTin melts at 232."


def test_a_source_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    """Absent parts, endless macros and files, bombs, links that lead out, what is no archive."""
    (tmp_path / "own").mkdir()
    (tmp_path / "out.tex").write_text("Secret.", encoding="utf-8")
    (tmp_path / "own" / "link.tex").symlink_to(tmp_path / "out.tex")
    bodies = {
        "absent": document(r"\input{one}\include{two} x"),
        "macro": document(r"\a", r"\newcommand{\a}{\a\a}"),
        "laughs": document(r"\d\d", "".join(
            f"\\newcommand{{\\{name}}}{{{body * 40}}}"
            for name, body in zip("abcd", ["ha", r"\a", r"\b", r"\c"], strict=True)
        )),
        "in_maths": document(r"$\a$", r"\newcommand{\a}{x\a}"),
        "itself": document(r"\input{itself-part}"),
        "etc": document(r"\input{/etc/passwd}"),
        "up": document(r"\input{../out}"),
        "leading": document(r"\input{link}"),
        "empty": document("% nothing"),
    }  # fmt: skip
    for name, text in bodies.items():
        (tmp_path / "own" / f"{name}.tex").write_text(text, encoding="utf-8")
    (tmp_path / "own" / "itself-part.tex").write_text(r"\input{itself-part}", encoding="utf-8")
    (tmp_path / "junk.zip").write_bytes(b"PK\x03\x04" + bytes(500))
    (tmp_path / "junk.tar.gz").write_bytes(b"\x1f\x8b" + bytes(500))
    big = "% " + "x" * (33 * 2**20)
    files = [tmp_path / "own" / f"{name}.tex" for name in bodies] + [
        tmp_path / "junk.zip",
        tmp_path / "junk.tar.gz",
        zipped(tmp_path / "bomb.zip", {"main.tex": big}),
        zipped(tmp_path / "none.zip", {"a.txt": "x"}),
        tmp_path / "absent.tar.gz",
    ]
    refused = [events[-1] for events in read_all([Job(path=str(file)) for file in files])]
    messages = [event.message for event in refused if isinstance(event, Refused)]
    assert [text.partition(" (")[0] for text in messages] == [
        "absent.tex has files that are missing or cannot be read; nothing was imported",
        "macro.tex: its macros expand to more than is read; one may expand to itself",
        "laughs.tex: its macros expand to more than is read; one may expand to itself",
        "in_maths.tex: its macros expand to more than is read; one may expand to itself",
        "itself.tex: itself-part inputs itself",
        "etc.tex inputs /etc/passwd.tex, which is outside its folder",
        "up.tex inputs ../out.tex, which is outside its folder",
        "link.tex is a link that leads out of its folder",
        "empty.tex holds no text for a passage",
        "junk.zip is damaged, or not a ZIP",
        "junk.tar.gz is damaged, or not a TAR archive",
        "bomb.zip unpacks to more than is read: 33,554,432 bytes of one file inside",
        "none.zip holds no LaTeX source that begins a document",
        f"file not found: {tmp_path / 'absent.tar.gz'}",
    ]
    assert isinstance(refused[0], Refused)
    assert refused[0].problems == (
        ("one", "is input but missing"), ("two", "is input but missing"),
    )  # fmt: skip


WORDS = st.text("abcdefghij ", min_size=1).map(str.strip).filter(bool)


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_every_paragraph_stands_verbatim_in_the_text(texts: list[str]) -> None:
    """Whatever font it was set in; and passages cover all of them."""
    plain = [" ".join(text.split()) for text in texts]
    body = "\n\n".join(f"\\textbf{{{text}}} % no text" for text in texts)
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.tex")
        path.write_text(document(body), encoding="utf-8")
        (page,) = read_here(path)
    assert page.text == "\n\n".join(plain)
    covered = " ".join(page.text[start:end] for start, end, *_ in page.cuts)
    assert covered.split() == " ".join(plain).split()


@given(st.text(st.sampled_from("\\{}[]$%&#~^_ \nabx*@()"), max_size=120))
def test_any_signs_are_read_or_refused(body: str) -> None:
    """Nothing that is typed stops the reader, and no passage stands elsewhere than it says."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.tex")
        path.write_text(document("Tin melts.\n\n" + body), encoding="utf-8", newline="\n")
        with suppress(BadInput):
            read_here(path)
