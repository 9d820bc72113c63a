"""The tables: integer keys inside, 32-byte content hashes UNIQUE, payloads as canonical JSON bytes.

What is filtered or joined is a typed column; everything else of a record stands in its payload.
Rows are appended. The only columns ever updated are the lease of a run or build, a scoring's
completion and an expense's bound; and a purge takes the texts out of the rows that hold them.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)

from proofstone.engines.store.schema_builds import (
    build,
    build_bank,
    build_call,
    build_funnel,
    build_input,
    build_outcome,
    build_output,
    build_row,
    build_stage,
    build_step,
    build_verdict,
    placement,
)
from proofstone.engines.store.schema_columns import hash_of as _hash
from proofstone.engines.store.schema_columns import key as _key
from proofstone.engines.store.schema_columns import metadata
from proofstone.engines.store.schema_columns import of_target as _of_target
from proofstone.engines.store.schema_columns import payload as _payload
from proofstone.engines.store.schema_columns import ref as _ref
from proofstone.engines.store.schema_columns import stratum as _stratum
from proofstone.engines.store.schema_columns import text as _text
from proofstone.engines.store.schema_reviews import (
    review,
    review_decision,
    review_place,
    review_sheet,
    withdrawn_sheet,
)

__all__ = [
    "HEAD",
    "build",
    "build_bank",
    "build_call",
    "build_funnel",
    "build_input",
    "build_outcome",
    "build_output",
    "build_row",
    "build_stage",
    "build_step",
    "build_verdict",
    "metadata",
    "placement",
    "review",
    "review_decision",
    "review_place",
    "review_sheet",
    "withdrawn_sheet",
]

HEAD = "0020"  # the newest migration in migrations/versions; a test compares them

workspace = Table(
    "workspace", metadata, Column("key", Text, primary_key=True), Column("value", Text)
)

source = Table(
    "source", metadata, _key(), _hash(),
    Column("kind", Text, nullable=False), _text("title"), _text("language"), _text("licence"),
    Column("authors", LargeBinary, nullable=False), Column("year", Integer),
    Column("content", LargeBinary, nullable=False), _text("origin"), *_stratum(),
)  # fmt: skip

passage = Table(
    "passage", metadata, _key(), _hash(), _ref("source_id", "source"),
    Column("page", Integer), Column("start_at", Integer, nullable=False),
    Column("end_at", Integer, nullable=False), Column("text", Text, nullable=False),
    _text("language"), _text("heading"),
)  # fmt: skip

# One reading of a page; the newest of a source and number holds. An unread page says why.
page = Table(
    "page", metadata, _key(), _hash(), _ref("source_id", "source"), Column("number", Integer),
    _text("label"), Column("text", Text, nullable=False), Column("width", Float, nullable=False),
    Column("height", Float, nullable=False), _text("reader"), Column("state", Text, nullable=False),
    _text("reason"), _text("detail"), Column("layout", LargeBinary, nullable=False),
    Column("read_at", Float, nullable=False),
    Index("ix_page_source_id_number", "source_id", "number"),
)  # fmt: skip

page_passage = Table(
    "page_passage", metadata, _ref("page_id", "page", primary=True),
    Column("position", Integer, primary_key=True), _ref("passage_id", "passage"), _text("kinds"),
    Index("ix_page_passage_passage_id", "passage_id"),
)  # fmt: skip

fact = Table(
    "fact", metadata, _key(), _hash(), *_payload(), _text("language"), *_stratum(),
    _ref("source_id", "source", optional=True), _ref("passage_id", "passage", optional=True),
    _text("page"), _ref("corrects_id", "fact", optional=True),
)  # fmt: skip

fact_role = Table(
    "fact_role", metadata, _ref("fact_id", "fact", primary=True),
    Column("role", Text, primary_key=True), Column("model", Text, primary_key=True),
)  # fmt: skip

bank = Table(
    "bank", metadata, _key(), _hash(), Column("name", Text, nullable=False),
    Column("method", Text, nullable=False), Column("created_at", Float, nullable=False),
)  # fmt: skip

bank_fact = Table(
    "bank_fact", metadata, _ref("bank_id", "bank", primary=True),
    Column("position", Integer, primary_key=True), _ref("fact_id", "fact"),
)  # fmt: skip

# What filters left of the file that became a bank: counts alone, as JSON.
bank_funnel = Table(
    "bank_funnel", metadata, _key(), _hash(), _ref("bank_id", "bank"),
    Column("payload", LargeBinary, nullable=False), Column("created_at", Float, nullable=False),
    Index("ix_bank_funnel_bank_id", "bank_id"),
)  # fmt: skip

item = Table(
    "item", metadata, _key(), _hash(), *_payload(), _text("language"), *_stratum(),
    Column("number", Integer, nullable=False), _ref("corrects_id", "item", optional=True),
)  # fmt: skip

item_fact = Table(
    "item_fact", metadata, _ref("item_id", "item", primary=True),
    Column("position", Integer, primary_key=True), _ref("fact_id", "fact"),
)  # fmt: skip

item_set = Table(
    "item_set", metadata, _key(), _hash(), Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False), Column("method", Text, nullable=False),
    _ref("bank_id", "bank", optional=True), Column("seed", BigInteger),
    Column("recipe", LargeBinary, nullable=False), Column("n_items", Integer, nullable=False),
    Column("created_at", Float, nullable=False),
)  # fmt: skip

item_set_item = Table(
    "item_set_item", metadata, _ref("item_set_id", "item_set", primary=True),
    Column("position", Integer, primary_key=True), _ref("item_id", "item"),
)  # fmt: skip

# What a file calls an item of the set that was imported from it, and the columns of its row that
# mean nothing to the method, as JSON. Only items that have either.
item_label = Table(
    "item_label", metadata, _ref("item_set_id", "item_set", primary=True),
    _ref("item_id", "item", primary=True), _text("name"),
    Column("metadata", LargeBinary, nullable=False),
    Index("ix_item_label_name", "name"), Index("ix_item_label_item_id", "item_id"),
    sqlite_with_rowid=False,
)  # fmt: skip

# Files that commands wrote with texts of a bank, form, run or build, so that a purge finds them.
# ``digest`` is the SHA-256 of what was written; the newest row of a path holds.
written_file = Table(
    "written_file", metadata, _key(), Column("path", Text, nullable=False, index=True),
    Column("kind", Text, nullable=False), Column("target_hash", LargeBinary(32), nullable=False),
    Column("digest", LargeBinary(32), nullable=False), Column("written_at", Float, nullable=False),
)  # fmt: skip

# A model that had a hand in a whole set (wrote an imported file, filtered a form).
item_set_role = Table(
    "item_set_role", metadata, _ref("item_set_id", "item_set", primary=True),
    Column("role", Text, primary_key=True), Column("model", Text, primary_key=True),
)  # fmt: skip

# Sets and banks that were made from others by correcting a few of their rows.
corrected_set = Table(
    "corrected_set", metadata, _ref("item_set_id", "item_set", primary=True),
    _ref("corrects_id", "item_set"), Index("ix_corrected_set_corrects_id", "corrects_id"),
)  # fmt: skip

corrected_bank = Table(
    "corrected_bank", metadata, _ref("bank_id", "bank", primary=True), _ref("corrects_id", "bank"),
)  # fmt: skip

run = Table(
    "run", metadata, _key(), _hash(), _ref("item_set_id", "item_set"),
    Column("method", Text, nullable=False), Column("respondent", Text, nullable=False),
    Column("way", Text, nullable=False), Column("last_step", Text, nullable=False),
    Column("prompt_hash", LargeBinary, nullable=False),
    Column("settings", LargeBinary, nullable=False), _text("replicate"),
    Column("simulated", Boolean, nullable=False), Column("created_at", Float, nullable=False),
    Column("version", Text, nullable=False),
    Column("lease_owner", Text), Column("lease_until", Float),
)  # fmt: skip

# How many items, from the set's first on, commands asked of a run: the most holds.
run_limit = Table(
    "run_limit",
    metadata,
    _ref("run_id", "run", primary=True),
    Column("n_items", Integer, primary_key=True, autoincrement=False),
)

image = Table(
    "image", metadata, _key(), _hash(), Column("media_type", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)  # fmt: skip

prompt = Table("prompt", metadata, _key(), _hash(), Column("body", LargeBinary, nullable=False))

# What a run's calls have in common, once: the model behind its endpoint and the settings.
profile = Table(
    "profile", metadata, _key(), _hash(),
    Column("model", Text, nullable=False, index=True), Column("endpoint", Text, nullable=False),
    Column("wire", Text, nullable=False), Column("simulated", Boolean, nullable=False),
    Column("settings", LargeBinary, nullable=False),
)  # fmt: skip

call = Table(
    "call", metadata, _key(), Column("request_hash", LargeBinary(32), nullable=False),
    Column("attempt", Integer, nullable=False), _ref("profile_id", "profile"),
    _ref("prompt_id", "prompt"), Column("purpose", Text, nullable=False),
    Column("sample", Integer, nullable=False), Column("state", Text, nullable=False),
    _text("error"), _text("detail"), Column("status", Integer, nullable=False),
    Column("raw", LargeBinary, nullable=False),
    Column("prompt_tokens", Integer), Column("completion_tokens", Integer),
    Column("reasoning_tokens", Integer), Column("cached_tokens", Integer),
    Column("cost_usd", Float), _text("served_model"), _text("fingerprint"),
    Column("latency_s", Float, nullable=False), Column("attempts", Integer, nullable=False),
    Column("started_at", Float, nullable=False), _text("reference"),
    Column("estimated_tokens", Integer),
    Index("ix_call_request_hash", "request_hash"),
)  # fmt: skip

# A command that may be billed, while it is at work, and what it left unrecorded. Amounts are in
# tokens or picodollars, by the unit; NULL where there was no budget to bound them.
expense = Table(
    "expense", metadata, _key(), Column("owner", Text, nullable=False), _text("runs"),
    _text("unit"), Column("budget", BigInteger), Column("started_at", Float, nullable=False),
    Column("until", Float, nullable=False), Column("ended_at", Float),
    Column("exposed_calls", Integer, nullable=False), Column("exposed", BigInteger),
    UniqueConstraint("owner", "started_at"),
)  # fmt: skip

response = Table(
    "response", metadata, _key(), _ref("run_id", "run"), _ref("item_id", "item"),
    Column("sample", Integer, nullable=False), Column("step", Text, nullable=False),
    _ref("call_id", "call"),
    UniqueConstraint("run_id", "item_id", "sample", "step"),
)  # fmt: skip

# A call that failed for good in this process; the item is asked again on resume.
failure = Table(
    "failure", metadata, _key(), _ref("run_id", "run"), _ref("item_id", "item"),
    Column("sample", Integer, nullable=False), Column("step", Text, nullable=False),
    _ref("call_id", "call"), Index("ix_failure_run_id", "run_id"),
)  # fmt: skip

# What a pilot asked, outside of a run, with so many worked examples: so that it is known what was
# sent where, and what goes with its source. A run that asks the same takes it from the cache.
pilot_call = Table(
    "pilot_call", metadata, _ref("call_id", "call", primary=True),
    _ref("item_id", "item", primary=True), _ref("item_set_id", "item_set"),
    Column("shots", Integer, nullable=False),
)  # fmt: skip

unit = Table(
    "unit", metadata, _key(), _ref("item_id", "item"), Column("kind", Text, nullable=False),
    Column("key", LargeBinary, nullable=False), Column("version", SmallInteger, nullable=False),
    Column("payload", LargeBinary, nullable=False), _text("gold"),
    Column("n_choices", Integer, nullable=False), UniqueConstraint("item_id", "kind", "key"),
)  # fmt: skip

cluster = Table(
    "cluster", metadata, _key(), Column("kind", Text, nullable=False),
    Column("key", LargeBinary, nullable=False), UniqueConstraint("kind", "key"),
)  # fmt: skip

unit_cluster = Table(
    "unit_cluster", metadata, _ref("unit_id", "unit", primary=True),
    _ref("cluster_id", "cluster", primary=True),
)  # fmt: skip

scoring = Table(
    "scoring", metadata, _key(), _hash(), _ref("run_id", "run"),
    Column("method", Text, nullable=False), Column("scorer_version", Integer, nullable=False),
    _text("judge"), Column("created_at", Float, nullable=False), Column("completed_at", Float),
    Index("ix_scoring_run_id", "run_id"),
)  # fmt: skip

score = Table(
    "score", metadata, _ref("scoring_id", "scoring", primary=True),
    _ref("unit_id", "unit", primary=True), Column("sample", Integer, primary_key=True),
    Column("measure", Text, primary_key=True), Column("outcome", SmallInteger, nullable=False),
    Column("value", Float), _text("answer"), _text("basis"), _text("flags"),
)  # fmt: skip

# What a panel of judges said of a reply, behind the score that rests on it: its ballots with their
# reasons are in the payload.
score_verdict = Table(
    "score_verdict", metadata, _ref("scoring_id", "scoring", primary=True),
    _ref("unit_id", "unit", primary=True), Column("sample", Integer, primary_key=True),
    Column("measure", Text, primary_key=True), Column("state", Text, nullable=False),
    _text("label"), Column("payload", LargeBinary, nullable=False), sqlite_with_rowid=False,
)  # fmt: skip

# What was known of a model, and since when: a new row where it changed; the newest is in force.
model_card = Table(
    "model_card", metadata, _key(), _hash(), Column("model", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False), Column("recorded_at", Float, nullable=False),
    Index("ix_model_card_model", "model"),
)  # fmt: skip

# Which cards were in force while a run was asked.
run_card = Table(
    "run_card", metadata, _ref("run_id", "run", primary=True),
    _ref("model_card_id", "model_card", primary=True),
)  # fmt: skip

# What a check of a model came to; the newest says whether it is retired.
model_check = Table(
    "model_check", metadata, _key(), _hash(), Column("model", Text, nullable=False),
    Column("state", Text, nullable=False), _text("endpoint"), _text("detail"),
    Column("checked_at", Float, nullable=False), Index("ix_model_check_model", "model"),
)  # fmt: skip

actor = Table("actor", metadata, _key(), _hash(), Column("created_at", Float, nullable=False))

# The one place of names: outside every hash, export and merge, so that a person can be erased.
person = Table(
    "person", metadata, _ref("actor_id", "actor", primary=True),
    Column("name", Text, nullable=False), _text("mail"), _text("pay_details"),
)  # fmt: skip

# What people did to rows, and why: each row speaks of one fact, item or item set. The newest of a
# row's retirements and restorations holds; an edit's row is the new version, which names the old.
correction = Table(
    "correction", metadata, _key(), _hash(), Column("action", Text, nullable=False),
    _ref("fact_id", "fact", optional=True), _ref("item_id", "item", optional=True),
    _ref("item_set_id", "item_set", optional=True), _ref("actor_id", "actor"),
    Column("reason", Text, nullable=False), Column("created_at", Float, nullable=False),
    _ref("follows_id", "correction", optional=True),
    Index("ix_correction_fact_id", "fact_id"), Index("ix_correction_item_id", "item_id"),
)  # fmt: skip

# A person's ruling over a reply to an item; it holds in every run that this very reply serves.
ruling = Table(
    "ruling", metadata, _key(), _hash(), _ref("item_id", "item"), _ref("call_id", "call"),
    _ref("run_id", "run"), Column("sample", Integer, nullable=False),
    Column("verdict", Text, nullable=False), _ref("actor_id", "actor"),
    Column("reason", Text, nullable=False), Column("created_at", Float, nullable=False),
    _ref("replaces_id", "ruling", optional=True), Index("ix_ruling_item_id", "item_id"),
)  # fmt: skip

# What will be looked at in the runs of a form, or of a bank's forms, frozen when it was made.
plan = Table(
    "plan", metadata, _key(), _hash(), _ref("item_set_id", "item_set", optional=True),
    _ref("bank_id", "bank", optional=True), Column("payload", LargeBinary, nullable=False),
    Column("created_at", Float, nullable=False),
)  # fmt: skip

# Where the texts of a bank or form lie in meaning, without the texts.
semantic_map = Table(
    "semantic_map", metadata, _key(), _hash(), *_of_target(),
    Index("ix_semantic_map_bank_id", "bank_id"),
    Index("ix_semantic_map_item_set_id", "item_set_id"),
)  # fmt: skip

# A source that was purged, or whose tombstone was lifted. ``content`` is the source's own, so that
# the same file is known under another title; ``removed`` counts texts by kind, as JSON.
tombstone = Table(
    "tombstone", metadata, _key(), _hash(), Column("kind", Text, nullable=False),
    Column("source_hash", LargeBinary(32), nullable=False),
    Column("content", LargeBinary, nullable=False), _ref("actor_id", "actor"),
    Column("reason", Text, nullable=False), Column("made_at", Float, nullable=False),
    Column("removed", LargeBinary, nullable=False),
)  # fmt: skip
