"""Building in steps over a real store: resumed, budgeted, merged, and the same each time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.errors import BadInput, BadUsage, NoPrice, RunInUse, UnboundedResponse
from scripted_server import Act, Seen, answer, error
from serving import HurriedClock, configure, serving

PRICE = 'price = { input = 2.0, output = 10.0, date = "2025-11-01", source = "https://e.x" }'


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """An empty workspace, with the method from outside on the path."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "outside"))
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        yield opened


class Writer:
    """An endpoint that writes about numbers, and refutes what is about a multiple of seven."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failing: set[str] = set()

    def __call__(self, seen: Seen) -> Act:
        prompt = seen.json["messages"][0]["content"]
        self.asked.append(prompt)
        if any(words in prompt for words in self.failing):
            return error(400, {"error": {"message": "the content filter says no"}})
        if prompt.startswith("Is this about"):
            n = int(prompt.split("?")[0].rsplit(" ", 1)[1])
            return answer("No." if n % 7 == 0 else "Yes.")
        return answer("What is it?")


def drills(workspace: Workspace, *inputs: str, **options: object) -> BuildResult:
    return workspace.build_in_steps(
        "drills", inputs or ["30"], name="drills",
        models="scripted/one", judge="scripted/two", **options,
    )  # type: ignore[arg-type]  # fmt: skip


def counts(result: BuildResult) -> list[tuple[str, int, int, dict[str, int], int]]:
    steps = result.funnel.steps
    return [(s.name, s.entered, s.kept, s.dropped, s.pending) for s in steps]


NUMBERS = [n for n in range(30) if n % 10]
CHECKED = [n for n in NUMBERS if n % 7]
WHOLE = [
    ("choose", 30, len(NUMBERS), {"round": 3}, 0),
    ("write", len(NUMBERS), 2 * len(NUMBERS), {}, 0),
    ("check", 2 * len(NUMBERS), 2 * len(CHECKED), {"refuted": 2 * (27 - len(CHECKED))}, 0),
    ("alike", 2 * len(CHECKED), len(CHECKED), {"same words": len(CHECKED)}, 0),
]


def test_a_build_gives_a_bank_and_its_funnel(workspace: Workspace) -> None:
    """Each row's way through the steps, and what the calls took by step and purpose."""
    with serving(Writer()) as server:
        configure(workspace.folder, server.url, PRICE)
        result = drills(workspace)
    assert counts(result) == WHOLE
    assert result.complete
    assert result.bank is not None
    assert len(result.bank.facts) == len(CHECKED)
    spent = [step.spent for step in result.funnel.steps]
    assert [each.calls for each in spent] == [0, 27, 54, 0]
    assert spent[1].cost_usd == pytest.approx(27 * (100 * 2e-6 + 5 * 10e-6))
    assert result.spent == result.funnel.spent
    by_purpose = workspace.store.spent.by_purpose()
    assert {name: each.calls for name, each in by_purpose.items()} == {"build": 27, "judge": 54}
    ((key, build),) = workspace.store.builds.every()
    assert build == result.build
    assert workspace.store.builds.funnel(key) == result.funnel
    assert workspace.store.builds.banks(key) == [result.bank.id]


def test_the_same_command_again_asks_nobody(workspace: Workspace) -> None:
    """It is the same build, and gives the same bank and the same funnel."""
    writer = Writer()
    with serving(writer) as server:
        configure(workspace.folder, server.url)
        first = drills(workspace)
        asked = len(writer.asked)
        again = drills(workspace)
    assert asked == 27 + 54
    assert len(writer.asked) == asked
    assert again.build == first.build
    assert again.funnel == first.funnel
    assert again.bank == first.bank
    assert again.spent.calls == 0


def test_rows_are_shared_by_builds(workspace: Workspace) -> None:
    """Of other inputs only the new rows are worked on; of another configuration only its step."""
    writer = Writer()
    with serving(writer) as server:
        configure(workspace.folder, server.url)
        drills(workspace, "30")
        writer.asked.clear()
        more = drills(workspace, "20-35")
        assert sorted(w for w in writer.asked if w.startswith("Ask")) == [
            f"Ask two things about {n}." for n in (31, 32, 33, 34)
        ]
        writer.asked.clear()
        other = drills(workspace, "30", round=5)
        assert writer.asked == []
    assert more.complete
    assert other.build.id != more.build.id
    assert other.funnel.steps[0].dropped == {"round": 6}
    assert other.complete


def test_a_failed_row_holds_the_build_up(workspace: Workspace) -> None:
    """No bank is made of it; the same command asks for that row alone."""
    writer = Writer()
    writer.failing = {"Ask two things about 4.", "Ask two things about 8."}
    with serving(writer) as server:
        configure(workspace.folder, server.url)
        held = drills(workspace)
        assert not held.complete
        assert held.bank is None
        assert not held.stopped
        write = held.funnel.steps[1]
        assert (write.pending, write.failed) == (2, {"content_filter": 2}) or write.failed == {
            "bad_request": 2
        }
        assert len(held.funnel.steps) == 3
        assert held.funnel.n_steps == 4
        writer.failing = set()
        writer.asked.clear()
        whole = drills(workspace)
    assert sorted(w for w in writer.asked if w.startswith("Ask")) == [
        "Ask two things about 4.",
        "Ask two things about 8.",
    ]
    assert counts(whole) == WHOLE


def test_a_budget_ends_a_build_cleanly(workspace: Workspace) -> None:
    """What was done is kept; a budget more goes on, and in the end nothing was asked twice."""
    writer = Writer()
    with serving(writer) as server:
        configure(workspace.folder, server.url, PRICE)
        ended = drills(workspace, budget="0.005USD", max_connections=2)
        assert ended.over_budget
        assert not ended.complete
        assert 0 < ended.spent.cost_usd <= 0.005
        assert ended.funnel.pending > 0
        result = drills(workspace, budget="1USD")
    assert counts(result) == WHOLE
    assert len(writer.asked) == len(set(writer.asked)) == 27 + 54
    assert result.funnel.spent.cost_usd == pytest.approx(81 * (100 * 2e-6 + 5 * 10e-6))


def test_a_budget_needs_prices_and_replies_that_end(workspace: Workspace) -> None:
    """As of a run: before anything is asked."""
    with serving(Writer()) as server:
        configure(workspace.folder, server.url)
        with pytest.raises(NoPrice):
            drills(workspace, budget="1USD")
        with pytest.raises(UnboundedResponse):
            drills(workspace, budget="1Mtok", settings={"max_tokens": None})
        assert server.requests == 0


def test_what_is_missing_is_said_before_anything_is_asked(workspace: Workspace) -> None:
    """Roles without a model, kinds that nobody builds in steps, inputs of which nothing enters."""
    with pytest.raises(BadUsage, match="no model is named for writer: writes the questions; check"):
        workspace.build_in_steps("drills", ["9"], name="d")
    with pytest.raises(BadUsage, match="no method builds 'songs' in steps"):
        workspace.build_in_steps("songs", ["9"], name="d")
    with pytest.raises(BadUsage, match="unknown role 'singer'\n  choose from: writer, checker"):
        workspace.build_in_steps(
            "drills", ["9"], name="d", models={"writer": "sim/a", "singer": "sim/b"}, judge="sim/c"
        )
    with pytest.raises(BadInput, match="nothing of 0 enters the build"):
        workspace.build_in_steps("drills", ["0"], name="d", models="sim/a", judge="sim/b")
    with pytest.raises(BadInput, match=r"no drills are left of 1 rows: 1 round"):
        workspace.build_in_steps("drills", ["1"], name="d", models="sim/a", judge="sim/b")


def test_a_build_is_worked_on_by_one_process(workspace: Workspace) -> None:
    """A second one is refused by name, as of a run."""
    with serving(Writer()) as server:
        configure(workspace.folder, server.url)
        drills(workspace)
        ((key, _build),) = workspace.store.builds.every()
        workspace.store.builds.take_lease(key, "another:1", workspace.clock.now())
        with pytest.raises(RunInUse, match="this build is in use by another:1"):
            drills(workspace)


def test_simulated_models_build_the_same_bank_anywhere(workspace: Workspace) -> None:
    """Their replies are fixed by the rows."""
    models = {"models": "sim/ann?ability=0.6", "judge": "sim/bob?ability=0.8"}
    first = workspace.build_in_steps("drills", ["60"], name="d", **models)  # type: ignore[arg-type]
    with create_workspace(workspace.folder.parent / "other") as other:
        second = other.build_in_steps(
            "drills",
            ["60"],
            name="d",
            max_connections=1,
            **models,  # type: ignore[arg-type]
        )
    assert first.bank == second.bank
    assert first.funnel == second.funnel
    assert first.build.simulated


def test_passages_enter_with_their_source(workspace: Workspace) -> None:
    """Without rows of the method's own an input names a source, and its passages enter."""
    from proofstone.ingest.ingest import ingest_paths  # noqa: PLC0415

    book = workspace.folder / "book.txt"
    book.write_text("One two. Three four five.\n\nSix.\n", encoding="utf-8")
    ingest_paths(workspace.store, [book], clock=workspace.clock)
    result = workspace.build_in_steps("excerpts", ["book"], name="e", models="sim/a?ability=1")
    assert result.complete
    assert result.bank is not None
    facts = workspace.store.knowledge.bank(result.bank.id).facts()
    assert sorted(fact.payload.answer for fact in facts) == ["1", "2", "3"]
    assert len({fact.source for fact in facts}) == 1


def test_what_a_build_sent_is_known_by_its_sources(workspace: Workspace) -> None:
    """The sources whose passages entered, at the endpoint that was asked; and a page of a form of
    its bank says how that was built."""
    from proofstone.ingest.ingest import ingest_paths  # noqa: PLC0415
    from proofstone.results.report import bank_sections  # noqa: PLC0415
    from proofstone.session.egress import what_was_sent  # noqa: PLC0415

    book = workspace.folder / "book.txt"
    book.write_text("One two. Three four five.\n\nSix.\n", encoding="utf-8")
    ingest_paths(workspace.store, [book], clock=workspace.clock)
    with serving(lambda _seen: answer("good")) as server:
        configure(workspace.folder, server.url, PRICE)
        built = workspace.build_in_steps("excerpts", ["book"], name="e", models="scripted/one")
    (sent,) = what_was_sent(workspace.store)
    assert [(source.title, source.n_items) for source in sent.sources] == [("book", 2)]
    assert built.bank is not None
    forms = workspace.build_form(f"bank:{built.bank.id.hex()}")
    (section,) = bank_sections(workspace.store, forms)
    cost = 3 * (100 * 2 + 5 * 10) / 1e6
    entered = "Of 2 rows that entered the build, 3 are left"
    assert section.finding == f"{entered}, for {cost:.6f} USD."
    assert section.plain == "No step dropped a row."
    (table,) = section.tables
    assert [row[:7] for row in table.rows] == [
        ("split", None, 2, 0, 0, 100.0, 3),
        ("split", "no sentence", None, 0, None, None, None),
        ("rate", None, 3, 0, 0, 100.0, 3),
        ("rate", "bad", None, 0, None, None, None),
    ]


@pytest.mark.parametrize("ending", ["whole", "nothing is left", "a model ends", "a step fails"])
def test_a_build_that_ends_has_lost_no_calls(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """However it ends, every call that was billed is stored, so `status` tells of none."""

    def script(seen: Seen) -> Act:
        prompt = seen.json["messages"][0]["content"]
        if ending == "a model ends" and "Is this about" in prompt:
            return error(401, {"error": {"message": "wrong key"}})
        if ending == "nothing is left" and "Is this about" in prompt:
            return answer("No.")
        return answer("What is it? Yes.")

    with serving(script) as server:
        configure(workspace.folder, server.url)
        if ending == "a step fails":
            monkeypatch.setattr(workspace.store.builds, "add_funnel", _broken)
        with suppress(BadInput, OSError):
            drills(workspace)
        assert server.requests > 20
    assert workspace.newly_lost() == workspace.store.expenses.lost() == []


def _broken(*_: object) -> None:
    raise OSError("no funnel can be kept")
