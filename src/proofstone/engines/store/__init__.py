"""The store: one database for all records; the only SQL in the package.

``Store`` opens a database and offers its parts; each part is one file here.
"""

from __future__ import annotations

from collections.abc import Callable

from proofstone.engines.store import schema
from proofstone.engines.store.alone import leave_log, refuse_held
from proofstone.engines.store.builds import BuildStore, EnteringRow
from proofstone.engines.store.calls import CallRows
from proofstone.engines.store.copies import (
    check_copy,
    copy_database,
    copy_file,
    take_notes_out,
)
from proofstone.engines.store.corrections import CorrectionStore, Retired
from proofstone.engines.store.expenses import Expense, ExpenseStore
from proofstone.engines.store.funnels import FunnelStore
from proofstone.engines.store.held_by import HeldBy, held_by, sources_sharing
from proofstone.engines.store.images import ImageStore
from proofstone.engines.store.indexed import IndexedRows, IndexedSource
from proofstone.engines.store.item_tallies import ItemTallies
from proofstone.engines.store.itemsets import ItemStore, StoredItem
from proofstone.engines.store.journal import StoreJournal
from proofstone.engines.store.knowledge import KnowledgeStore, StoredBank
from proofstone.engines.store.leases import this_process
from proofstone.engines.store.lookup import KINDS, Found, Lookup
from proofstone.engines.store.merge import MergeReport, merge
from proofstone.engines.store.model_facts import ModelFacts
from proofstone.engines.store.of_targets import TargetStore
from proofstone.engines.store.opening import Database, sqlite_file
from proofstone.engines.store.origins import DocumentRow, Origin, OriginRows
from proofstone.engines.store.outcomes import BuildPlace, OutcomeRow, OutcomeStore
from proofstone.engines.store.own_prompts import OwnPromptStore
from proofstone.engines.store.paces import PaceRows
from proofstone.engines.store.pages import PageCount, PageStore, PlacedPassage, ReadPage
from proofstone.engines.store.payloads import Payloads, is_purged
from proofstone.engines.store.people import PeopleStore
from proofstone.engines.store.placements import PlacementStore
from proofstone.engines.store.plans import PlanStore
from proofstone.engines.store.purge_plan import (
    PurgePlan,
    copies_of,
    derived_rows,
    plan_purge,
)
from proofstone.engines.store.purged_text import ids_in
from proofstone.engines.store.purging import empty_rows, rewrite
from proofstone.engines.store.responses import ResponseStore, StoredResponse
from proofstone.engines.store.reviews import ReadItems, ReviewStore
from proofstone.engines.store.roles import RoleStore
from proofstone.engines.store.rulings import RulingInForce, RulingStore
from proofstone.engines.store.runs import Failure, ItemReplies, RawReply, RunStore, RunTotals
from proofstone.engines.store.scores import ScoreRow, ScoreStore, ScoreTally, UnitRow
from proofstone.engines.store.sent import SentCalls, SentRows, SentSource
from proofstone.engines.store.served import ServedRows, ServedShare
from proofstone.engines.store.snapshot import Readable, snapshot
from proofstone.engines.store.spent import SpentRows
from proofstone.engines.store.table import load_table
from proofstone.engines.store.tombstones import Tombstone, TombstoneRows, purged_there
from proofstone.engines.store.traces import (
    CallTrace,
    FactTrace,
    ResponseTrace,
    ScoreTrace,
    ScoringTrace,
    TraceRows,
)
from proofstone.engines.store.troubles import TroubleRows
from proofstone.engines.store.verified import ScoredPlace, VerifiedRow, VerifiedRows
from proofstone.engines.store.versions import schema_version
from proofstone.engines.store.writer import GROUP_ROWS, PilotPlace, Place, Writer
from proofstone.engines.store.written_files import WrittenFile, WrittenFiles
from proofstone.ports import CallRecord, PayloadType
from proofstone.records import DecidedReviews, StoredMap

__all__ = [
    "GROUP_ROWS",
    "KINDS",
    "BuildPlace",
    "CallTrace",
    "Database",
    "DocumentRow",
    "EnteringRow",
    "Expense",
    "FactTrace",
    "Failure",
    "Found",
    "HeldBy",
    "IndexedSource",
    "ItemReplies",
    "MergeReport",
    "ModelFacts",
    "Origin",
    "OutcomeRow",
    "PageCount",
    "PilotPlace",
    "Place",
    "PlacedPassage",
    "PurgePlan",
    "RawReply",
    "ReadItems",
    "ReadPage",
    "Readable",
    "ResponseTrace",
    "Retired",
    "ReviewStore",
    "RulingInForce",
    "RunTotals",
    "ScoreRow",
    "ScoreTally",
    "ScoreTrace",
    "ScoredPlace",
    "ScoringTrace",
    "SentCalls",
    "SentSource",
    "ServedShare",
    "Store",
    "StoreJournal",
    "StoredBank",
    "StoredItem",
    "StoredResponse",
    "Tombstone",
    "UnitRow",
    "VerifiedRow",
    "Writer",
    "WrittenFile",
    "check_copy",
    "copies_of",
    "copy_database",
    "copy_file",
    "derived_rows",
    "empty_rows",
    "held_by",
    "ids_in",
    "is_purged",
    "leave_log",
    "load_table",
    "merge",
    "plan_purge",
    "purged_there",
    "refuse_held",
    "rewrite",
    "schema_version",
    "snapshot",
    "sources_sharing",
    "sqlite_file",
    "take_notes_out",
    "this_process",
]


class Store:
    """One open database and its parts. ``find_payload`` gives the type of a payload kind; with
    ``must_exist`` an SQLite file is not made."""

    def __init__(
        self, url: str, find_payload: Callable[[str], PayloadType], *, must_exist: bool = False
    ) -> None:
        self.database = Database(url, must_exist=must_exist)
        self.payloads = Payloads(find_payload)
        self.knowledge = KnowledgeStore(self.database, self.payloads)
        self.pages = PageStore(self.database)
        self.indexed = IndexedRows(self.database)
        self.placements = PlacementStore(self.database)
        self.items = ItemStore(self.database, self.payloads, self.knowledge)
        self.runs = RunStore(self.database, self.items)
        self.images = ImageStore(self.database)
        self.calls = CallRows(self.database, self.images)
        self.own_prompts = OwnPromptStore(self.database)
        self.scores = ScoreStore(self.database)
        self.item_tallies = ItemTallies(self.database)
        self.verified = VerifiedRows(self.database)
        self.sent = SentRows(self.database)
        self.served = ServedRows(self.database)
        self.models = ModelFacts(self.database)
        self.origins = OriginRows(self.database)
        self.troubles = TroubleRows(self.database)
        self.people = PeopleStore(self.database)
        self.roles = RoleStore(self.database)
        self.funnels = FunnelStore(self.database)
        self.responses = ResponseStore(self.database)
        self.plans = PlanStore(self.database)
        self.reviews = ReviewStore(self.database)
        self.decided = TargetStore(self.database, schema.review_decision, DecidedReviews)
        self.maps = TargetStore(self.database, schema.semantic_map, StoredMap)
        self.rulings = RulingStore(self.database)
        self.corrections = CorrectionStore(self.database)
        self.lookup = Lookup(self.database)
        self.traces = TraceRows(self.database)
        self.tombstones = TombstoneRows(self.database)
        self.written = WrittenFiles(self.database)
        self.expenses = ExpenseStore(self.database)
        self.spent = SpentRows(self.database)
        self.outcomes = OutcomeStore(self.database)
        self.builds = BuildStore(self.database, self.outcomes)
        self.paces = PaceRows(self.database)

    def writer(self, kept: Callable[[CallRecord], None] | None = None) -> Writer:
        """A new group-commit writer, ``kept`` told of each call on disk; use one at a time in a
        process."""
        return Writer(self.database, self.scores, self.outcomes, kept)

    def close(self) -> None:
        """Gives the database back."""
        self.database.close()
