"""Store all records in one database; the only SQL in the package.

``Store`` opens a database and offers its parts; each part is one file here.
"""

from __future__ import annotations

from collections.abc import Callable

from proofstone.method import PayloadType
from proofstone.records.calls import CallRecord
from proofstone.records.reviews import DecidedReviews
from proofstone.records.tables import StoredMap
from proofstone.store import schema
from proofstone.store.builds import BuildStore, FunnelStore
from proofstone.store.calls import (
    CallRows,
    ExpenseStore,
    ImageStore,
    ResponseStore,
    SpentRows,
    TroubleRows,
)
from proofstone.store.database import Database
from proofstone.store.items import ItemStore, ItemTallies, OwnPromptStore
from proofstone.store.knowledge import IndexedRows, KnowledgeStore, PageStore, TaxonomyLabelStore
from proofstone.store.lookup import Lookup
from proofstone.store.payloads import Payloads
from proofstone.store.provenance import OriginRows, RoleStore, SentRows, TraceRows
from proofstone.store.purge import TombstoneRows, WrittenFiles
from proofstone.store.reviews import CorrectionStore, OverrideStore, PeopleStore, ReviewStore
from proofstone.store.rows import TargetStore
from proofstone.store.runs import ModelFacts, PaceRows, PlanStore, ReportedRows, RunStore
from proofstone.store.scores import ScoreStore
from proofstone.store.writer import OutcomeStore, Writer


class Store:
    """One open database and its parts.

    ``find_payload`` returns the type of a payload kind. With ``must_exist`` an SQLite file is not
    created.
    """

    def __init__(
        self, url: str, find_payload: Callable[[str], PayloadType], *, must_exist: bool = False
    ) -> None:
        self.database = Database(url, must_exist=must_exist)
        self.payloads = Payloads(find_payload)
        self.knowledge = KnowledgeStore(self.database, self.payloads)
        self.pages = PageStore(self.database)
        self.indexed = IndexedRows(self.database)
        self.taxonomy_labels = TaxonomyLabelStore(self.database)
        self.items = ItemStore(self.database, self.payloads, self.knowledge)
        self.runs = RunStore(self.database, self.items)
        self.images = ImageStore(self.database)
        self.calls = CallRows(self.database, self.images)
        self.own_prompts = OwnPromptStore(self.database)
        self.scores = ScoreStore(self.database)
        self.item_tallies = ItemTallies(self.database)
        self.sent = SentRows(self.database)
        self.reported = ReportedRows(self.database)
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
        self.overrides = OverrideStore(self.database)
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
        """Return a new group-commit writer; use one at a time per process.

        It calls ``kept`` with each call that is on disk.
        """
        return Writer(self.database, self.scores, self.outcomes, kept)

    def close(self) -> None:
        """Close the database."""
        self.database.close()
