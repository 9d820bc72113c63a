"""From a folder of documents to a leaderboard of short questions, as people type it."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import pytest

from chinese_simpleqa.scripted_examiner import PANEL, Examiner
from debian_documents import FOLDOC, HANDBOOK, debian_documents
from proofstone.api import open_workspace
from scripted_server import Act, answer
from serving import configure, serving
from told import Proofstone

ROLES = ("-m", "scripted/author", "--judge", "scripted/judge", "--panel", ",".join(PANEL))
RIVERS = """# Rivers

## The Danube

The Danube rises in the Black Forest near Donaueschingen, flows through or along ten countries and
reaches the Black Sea by a delta whose northern arm is called Chilia.

## The Rhone

The Rhone leaves a glacier in the canton of Valais in Switzerland, crosses Lake Geneva and turns
south at Lyon, where the Saone comes to meet it from the hills of Burgundy.

## The Niger

The Niger rises in the highlands of Guinea, away from the sea, and takes a long bend through Mali
past Timbuktu before it turns south and ends in Nigeria in a wide delta.

## The Loire

The Loire begins at the foot of Mont Gerbier, runs north to Orleans and then west, and is the
longest river that lies in France alone from its spring to its mouth.

## An outline

Rivers, lakes, canals and seas in the order of the chapters that follow in this little book here
"""
CHINESE = """# 河流

## 长江

长江发源于唐古拉山脉主峰Geladaindong，流经十一个省级行政区，在上海注入东海，全长约6300公里，是亚洲最长的河流。

## 黄河

黄河发源于巴颜喀拉山北麓，英文名称为Yellow River，因携带黄土而得名，在山东注入渤海。
"""
# A sentence, and in it a word of Latin letters that is no common one: what is asked for.
SENTENCE = re.compile(r"[A-Z\u4e00-\u9fff][^.。!?！？\n]{30,300}[.。]")
NAME = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z]{3,}(?![A-Za-z])")
# What becomes of a pair, by a number that its answer fixes: a label that some judge gives.
FATES = {
    3: ("category", "strays"), 5: ("evidence", "contradicted"), 7: ("sensitive", "sensitive"),
    9: ("panel", "easy"),
}  # fmt: skip
REASONS = {
    ("category", "strays"): ("second look", "of another category"),
    ("evidence", "contradicted"): ("evidence", "contradicted by evidence"),
    ("sensitive", "sensitive"): ("sensitive", "sensitive content"),
}


class Scholar(Examiner):
    """Asks which name was left out of a sentence of any text; ``told`` counts what its judge said
    against a pair."""

    def __init__(self) -> None:
        super().__init__()
        self.told: Counter[tuple[str, str]] = Counter()

    def _write(self, blocks: list[str]) -> Act:
        text = " ".join(blocks[0].split())
        for sentence in SENTENCE.findall(text):
            names = [name for name in NAME.findall(sentence[1:]) if sentence.count(name) == 1]
            if names:
                question = f"Which name belongs here: {sentence.replace(names[0], '____')}"
                self.years[question] = names[0]
                pairs = [{"question": question, "answer": names[0], "aliases": []}]
                return answer(json.dumps({"pairs": pairs}, ensure_ascii=False))
        return answer('{"pairs": []}')

    def _judge(self, kind: str, blocks: list[str]) -> Act:
        question = next((each for each in self.years if each == blocks[0]), "")
        told, label = FATES.get(fate(self.years.get(question, "")), ("", ""))
        if told == kind:
            self.told[kind, label] += 1
            return answer(json.dumps({"reason": "seen", "label": label}))
        return super()._judge(kind, blocks)

    def _member(self, model: str, prompt: str) -> Act:
        question = next((each for each in self.years if each in prompt), "")
        name = self.years.get(question, "unknown")
        if model == "member-5" and fate(name) != 9:
            return answer("Perhaps 1066.")
        return answer(name)


def fate(name: str) -> int:
    """Of ten fates that of a name; none of no name."""
    return crc32(name.encode()) % 10 if name else -1


def go(work: Path, folder: Path, proofstone: Proofstone, *languages: str, n: int) -> None:
    """Every step of the way, each by its command."""
    assert proofstone("init", work).code == 0
    scholar = Scholar()
    with serving(scholar) as server:
        configure(work, server.url)
        read = proofstone("ingest", folder, "--book", "Rivers", "--license", "CC0-1.0", "-w", work)
        assert read.code == 0, read.err
        asked = ("--primary-category", "Anything", "--name", "rivers", "--per-input", n)
        asked = (*asked, "--yes", "-w", work)
        built = proofstone("build", "short-qa", "Rivers", *ROLES, *asked, "--json")
        assert built.code == 0, built.out + built.err
        check_funnel(built.json["funnel"]["steps"], scholar)
        requests = server.requests
        again = proofstone("build", "short-qa", "Rivers", *ROLES, *asked, "--json")
        assert (again.json["bank"], server.requests) == (built.json["bank"], requests)
        check_facts(work, *languages)
        run = ("-m", "scripted/member-1,scripted/member-5", "--judge", "scripted/judge")
        ran = proofstone("run", "rivers", *run, "--yes", "-w", work)
        assert ran.code == 0, ran.out + ran.err
    board = proofstone("leaderboard", "rivers", "-w", work)
    first, last = [line for line in board.out.splitlines() if re.match(r" *[\d-]+ +script", line)]
    assert "scripted/member-1" in first
    assert "100.0 [" in first
    assert "scripted/member-5" in last
    assert " 0.0 [" in last
    exported = proofstone("export", "rivers", "-o", work / "rivers.jsonl", "-w", work)
    assert exported.code == 0, exported.err
    assert proofstone("import", work / "rivers.jsonl", "--as", "bank", "-w", work).code == 0


def check_funnel(steps: list[dict[str, object]], scholar: Scholar) -> None:
    """What each step dropped is what the judge said, and all rows are accounted for."""
    found = {str(step["name"]): step for step in steps}
    for told, (step, reason) in REASONS.items():
        dropped = found[step]["dropped"]
        assert isinstance(dropped, dict)
        assert dropped[reason] == scholar.told[told]
    for before, after in pairwise(steps):
        assert after["entered"] == before["kept"]
        assert not before["pending"]


def check_facts(work: Path, *languages: str) -> None:
    """Each answer stands in the passage that supports it, in the place of the blank."""
    with open_workspace(work) as workspace:
        (bank,) = workspace.store.lookup.every("bank")
        facts = workspace.store.knowledge.bank(bank.id).facts()
        assert {fact.language for fact in facts} >= set(languages)
        for fact in facts:
            passage = workspace.store.knowledge.passage(fact.passage or b"")
            assert passage is not None
            sentence = fact.payload.question.partition(": ")[2]
            assert sentence.replace("____", fact.payload.answer) in " ".join(passage.text.split())


def test_from_documents_to_a_leaderboard(tmp_path: Path, proofstone: Proofstone) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "rivers.md").write_text(RIVERS, encoding="utf-8")
    (folder / "河流.md").write_text(CHINESE, encoding="utf-8")
    go(tmp_path / "work", folder, proofstone, "en", "zh", n=10)


def foldoc(folder: Path) -> None:
    """Two hundred entries of the dictionary of computing, each a part of one text."""
    packed = debian_documents(FOLDOC) / "foldoc.dict.dz"
    text = gzip.decompress(packed.read_bytes()).decode("utf-8")
    entries = re.split(r"\n\n(?=\S)", text)[2000:2200]
    parts = [entry.partition("\n\n") for entry in entries]
    written = [f"## {' '.join(head.split())}\n\n{body}" for head, _gap, body in parts]
    (folder / "foldoc.md").write_text("# FOLDOC\n\n" + "\n\n".join(written), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["en-US", "zh-CN", "foldoc"])
def test_from_debian_documents_to_a_leaderboard(
    name: str, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Debian's handbook in both languages, and FOLDOC."""
    folder = tmp_path / "docs"
    folder.mkdir()
    if name == "foldoc":
        foldoc(folder)
    else:
        for page in ("apt", "sect.apt-get", "sect.backup", "foreword"):
            source = debian_documents(HANDBOOK, name) / f"{page}.html"
            (folder / f"{page}.html").write_bytes(source.read_bytes())
    go(tmp_path / "work", folder, proofstone, "zh" if name == "zh-CN" else "en", n=40)
