"""Questions that are known already: of public sets in files, and of other banks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.fields import Fields
from proofstone.files.tables import read_checked
from proofstone.methods.chinese_simpleqa.questions import ANSWER, QUESTION
from proofstone.records.ids import canonical_json, digest
from proofstone.records.knowledge import Fact
from proofstone.records.tables import Row


class KnownPair(Struct, frozen=True):
    """A question of somewhere else, and its answer, empty where that is not told."""

    question: str
    answer: str = ""


class KnownSets(Struct, frozen=True):
    """What pairs are compared with: the questions of files, and ``banks`` by their names."""

    pairs: tuple[KnownPair, ...] = ()
    banks: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The banks as a step names what it reads."""
        return tuple(f"bank:{name}" for name in self.banks)

    def key(self) -> str:
        """What of the files a step depends on."""
        return digest(canonical_json(self.pairs)).hex()

    def all(self, banks: Mapping[str, Sequence[Fact]]) -> list[KnownPair]:
        """All of them, those of the files first. Raises BadUsage for a bank of anything else."""
        found = list(self.pairs)
        for name, facts in banks.items():
            for fact in facts:
                question = getattr(fact.payload, "question", None)
                if not isinstance(question, str):
                    raise BadUsage(f"--against {name}: that bank holds no questions")
                found.append(KnownPair(question, str(getattr(fact.payload, "answer", ""))))
        return found


def read_known(against: str) -> KnownSets:
    """``FILE|BANK,...``: a name with an ending that is a file's is one, all others are banks.
    Raises BadInput with every problem of a file, BadUsage for a file that is not there."""
    pairs: list[KnownPair] = []
    banks: list[str] = []
    for name in filter(None, map(str.strip, against.split(","))):
        path = Path(name)
        if path.is_file():
            pairs += read_checked(path, _pairs)
        elif path.suffix in {".jsonl", ".csv", ".json", ".parquet", ".tsv"}:
            raise BadUsage(f"--against {name}: there is no such file")
        else:
            banks.append(name)
    return KnownSets(tuple(dict.fromkeys(pairs)), tuple(dict.fromkeys(banks)))


def _pairs(rows: Iterable[Row]) -> list[KnownPair]:
    problems: list[Problem] = []
    found = []
    for row in rows:
        fields = Fields(row, problems)
        found.append(KnownPair(fields.required_text(*QUESTION), fields.label(*ANSWER)))
    if problems:
        raise BadInput("The questions to compare with cannot be read.", problems)
    return found
