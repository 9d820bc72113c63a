"""The tables: integer keys inside, UNIQUE 32-byte content hashes, payloads as canonical JSON.

Filtered or joined fields are typed columns; the rest of a record is in its payload. Rows are
appended. The only columns ever updated are the lease of a run or build, a scoring's completion and
an expense's bound. A purge removes the texts from rows.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

# Common columns, and the table registry.

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


# A 64-bit key on PostgreSQL; SQLite's own row key must be spelled INTEGER.
Key = BigInteger().with_variant(Integer, "sqlite")


def key() -> Column[int]:
    """Return the integer key column."""
    return Column("id", Key, primary_key=True, autoincrement=True)


def hash_of() -> Column[bytes]:
    """Return the content hash column, the identity of a row in all workspaces."""
    return Column("hash", LargeBinary(32), nullable=False, unique=True)


def ref(name: str, target: str, *, optional: bool = False, primary: bool = False) -> Column[int]:
    """Return a foreign key column."""
    return Column(name, Key, ForeignKey(f"{target}.id"), nullable=optional, primary_key=primary)


def given(name: str, kind: Any) -> Column[Any]:
    """Return a NOT NULL column."""
    return Column(name, kind, nullable=False)


def text(name: str) -> Column[str]:
    """Return a NOT NULL text column."""
    return Column(name, Text, nullable=False, server_default="")


def stratum() -> list[Column[str]]:
    """Return the columns of the four taxonomy levels."""
    return [text(level) for level in ("discipline", "field", "subfield", "book")]


def payload() -> list[Column]:  # type: ignore[type-arg]
    """Return the columns of a tagged payload with its version."""
    return [
        given("kind", Text),
        given("version", SmallInteger),
        given("payload", LargeBinary),
    ]


def of_target() -> list[Column]:  # type: ignore[type-arg]
    """Return the columns of a record of a bank or form, with its content as JSON."""
    return [
        ref("bank_id", "bank", optional=True),
        ref("item_set_id", "item_set", optional=True),
        given("payload", LargeBinary),
        given("created_at", Float),
    ]


REVISIONS = ("v0001",)  # oldest first, one file each in migrations/versions; a test compares them


HEAD = REVISIONS[-1]


# Each table comes after those that it refers to: a merge copies them in this order.

workspace = Table(
    "workspace", metadata, Column("key", Text, primary_key=True), Column("value", Text),
)  # fmt: skip


# Holds the database's schema revision; Alembic's own table, not part of the workspace's rows.
revision = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


source = Table(
    "source", metadata, key(), hash_of(), given("kind", Text), text("title"), text("language"),
    text("license"), given("authors", LargeBinary), Column("year", Integer),
    given("content", LargeBinary), text("origin"), *stratum(),
)  # fmt: skip


passage = Table(
    "passage", metadata, key(), hash_of(), ref("source_id", "source"), Column("page", Integer),
    given("start_at", Integer), given("end_at", Integer), given("text", Text), text("language"),
    text("heading"),
)  # fmt: skip


# One reading of a page; the newest of a source and number applies. An unread page has a reason.
page = Table(
    "page", metadata, key(), hash_of(), ref("source_id", "source"), Column("number", Integer),
    text("label"), given("text", Text), given("width", Float), given("height", Float),
    text("reader"), given("state", Text), text("reason"), text("detail"),
    given("layout", LargeBinary), given("read_at", Float),
    Index("ix_page_source_id_number", "source_id", "number"),
)  # fmt: skip


page_passage = Table(
    "page_passage", metadata, ref("page_id", "page", primary=True),
    Column("position", Integer, primary_key=True), ref("passage_id", "passage"), text("kinds"),
    Index("ix_page_passage_passage_id", "passage_id"),
)  # fmt: skip


fact = Table(
    "fact", metadata, key(), hash_of(), *payload(), text("language"), *stratum(),
    ref("source_id", "source", optional=True), ref("passage_id", "passage", optional=True),
    text("page"), ref("corrects_id", "fact", optional=True),
)  # fmt: skip


fact_role = Table(
    "fact_role", metadata, ref("fact_id", "fact", primary=True),
    Column("role", Text, primary_key=True), Column("model", Text, primary_key=True),
)  # fmt: skip


bank = Table(
    "bank", metadata, key(), hash_of(), given("name", Text), given("method", Text),
    given("created_at", Float),
)  # fmt: skip


bank_fact = Table(
    "bank_fact", metadata, ref("bank_id", "bank", primary=True),
    Column("position", Integer, primary_key=True), ref("fact_id", "fact"),
)  # fmt: skip


# Counts, as JSON, of what filters left of the file that became a bank.
bank_funnel = Table(
    "bank_funnel", metadata, key(), hash_of(), ref("bank_id", "bank"),
    given("payload", LargeBinary), given("created_at", Float),
    Index("ix_bank_funnel_bank_id", "bank_id"),
)  # fmt: skip


item = Table(
    "item", metadata, key(), hash_of(), *payload(), text("language"), *stratum(),
    given("number", Integer), ref("corrects_id", "item", optional=True),
)  # fmt: skip


item_fact = Table(
    "item_fact", metadata, ref("item_id", "item", primary=True),
    Column("position", Integer, primary_key=True), ref("fact_id", "fact"),
)  # fmt: skip


item_set = Table(
    "item_set", metadata, key(), hash_of(), given("name", Text), given("kind", Text),
    given("method", Text), ref("bank_id", "bank", optional=True), Column("seed", BigInteger),
    given("recipe", LargeBinary), given("n_items", Integer), given("created_at", Float),
)  # fmt: skip


item_set_item = Table(
    "item_set_item", metadata, ref("item_set_id", "item_set", primary=True),
    Column("position", Integer, primary_key=True), ref("item_id", "item"),
)  # fmt: skip


# The id of an imported item in its file, and unknown columns of its row, as JSON. Only items that
# have either.
item_label = Table(
    "item_label", metadata, ref("item_set_id", "item_set", primary=True),
    ref("item_id", "item", primary=True), text("name"), given("metadata", LargeBinary),
    Index("ix_item_label_name", "name"), Index("ix_item_label_item_id", "item_id"),
    sqlite_with_rowid=False,
)  # fmt: skip


# A model that helped make a whole set (wrote an imported file, filtered a form).
item_set_role = Table(
    "item_set_role", metadata, ref("item_set_id", "item_set", primary=True),
    Column("role", Text, primary_key=True), Column("model", Text, primary_key=True),
)  # fmt: skip


# Sets and banks that correct a few rows of others.
corrected_set = Table(
    "corrected_set", metadata, ref("item_set_id", "item_set", primary=True),
    ref("corrects_id", "item_set"), Index("ix_corrected_set_corrects_id", "corrects_id"),
)  # fmt: skip


corrected_bank = Table(
    "corrected_bank", metadata, ref("bank_id", "bank", primary=True), ref("corrects_id", "bank"),
)  # fmt: skip


run = Table(
    "run", metadata, key(), hash_of(), ref("item_set_id", "item_set"), given("method", Text),
    given("respondent", Text), given("prompt_method", Text), given("last_step", Text),
    given("prompt_hash", LargeBinary), given("settings", LargeBinary), text("replicate"),
    given("simulated", Boolean), given("created_at", Float), given("version", Text),
    Column("lease_owner", Text), Column("lease_until", Float),
)  # fmt: skip


# The number of items, from the set's first on, that commands asked a run; the maximum applies.
run_limit = Table(
    "run_limit", metadata, ref("run_id", "run", primary=True),
    Column("n_items", Integer, primary_key=True, autoincrement=False),
)  # fmt: skip


image = Table(
    "image", metadata, key(), hash_of(), given("media_type", Text), given("body", LargeBinary),
)  # fmt: skip


prompt = Table("prompt", metadata, key(), hash_of(), given("body", LargeBinary))


# What a run's calls share, stored once: the model behind its endpoint and the settings.
profile = Table(
    "profile", metadata, key(), hash_of(), Column("model", Text, nullable=False, index=True),
    given("endpoint", Text), given("wire", Text), given("simulated", Boolean),
    given("settings", LargeBinary),
)  # fmt: skip


call = Table(
    "call", metadata, key(), given("request_hash", LargeBinary(32)), given("attempt", Integer),
    ref("profile_id", "profile"), ref("prompt_id", "prompt"), given("purpose", Text),
    given("sample", Integer), given("state", Text), text("error"), text("detail"),
    given("status", Integer), given("raw", LargeBinary), Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer), Column("reasoning_tokens", Integer),
    Column("cached_tokens", Integer), Column("cost_usd", Float), text("reported_model"),
    text("fingerprint"), given("latency_s", Float), given("attempts", Integer),
    given("started_at", Float), text("reference"), Column("estimated_tokens", Integer),
    Index("ix_call_request_hash", "request_hash"),
)  # fmt: skip


response = Table(
    "response", metadata, key(), ref("run_id", "run"), ref("item_id", "item"),
    given("sample", Integer), given("step", Text), ref("call_id", "call"),
    UniqueConstraint("run_id", "item_id", "sample", "step"),
)  # fmt: skip


# A call that failed permanently in this process; the item is asked again on resume.
failure = Table(
    "failure", metadata, key(), ref("run_id", "run"), ref("item_id", "item"),
    given("sample", Integer), given("step", Text), ref("call_id", "call"),
    Index("ix_failure_run_id", "run_id"),
)  # fmt: skip


# Requests of a pilot, outside of a run, with the number of few-shot examples. They record what was
# sent where, and what is purged with its source. A run with the same request takes it from the
# cache.
pilot_call = Table(
    "pilot_call", metadata, ref("call_id", "call", primary=True),
    ref("item_id", "item", primary=True), ref("item_set_id", "item_set"), given("shots", Integer),
)  # fmt: skip


# A row in a pipeline: equal content is the same row in all builds.
build_row = Table("build_row", metadata, key(), hash_of(), given("payload", LargeBinary))


# A step with the hash of its version and configuration; a batch step also hashes its rows.
build_step = Table(
    "build_step", metadata, key(), hash_of(), given("name", Text), given("version", Integer),
    given("config", LargeBinary),
)  # fmt: skip


# A step's result for a row: unchanged, replaced by others (build_output), or dropped. Keys are
# assigned in processing order, so that rows without their own key are stored close together.
build_outcome = Table(
    "build_outcome", metadata, ref("step_id", "build_step", primary=True),
    ref("row_id", "build_row", primary=True), given("is_same", Boolean), text("reason"),
    text("found"), sqlite_with_rowid=False,
)  # fmt: skip


build_output = Table(
    "build_output", metadata, ref("step_id", "build_step", primary=True),
    ref("row_id", "build_row", primary=True), Column("position", Integer, primary_key=True),
    ref("output_id", "build_row"), sqlite_with_rowid=False,
)  # fmt: skip


# A panel's verdicts behind an outcome, by question: the votes with their reasons are in the
# payload.
build_verdict = Table(
    "build_verdict", metadata, ref("step_id", "build_step", primary=True),
    ref("row_id", "build_row", primary=True), Column("position", Integer, primary_key=True),
    given("question", Text), given("state", Text), text("label"), given("payload", LargeBinary),
    sqlite_with_rowid=False,
)  # fmt: skip


# The calls that a step made for a row; those of a batch step belong to a row without content.
build_call = Table(
    "build_call", metadata, ref("step_id", "build_step", primary=True),
    ref("row_id", "build_row", primary=True), ref("call_id", "call", primary=True),
    Index("ix_build_call_call_id", "call_id"), sqlite_with_rowid=False,
)  # fmt: skip


# A pipeline over certain rows: the same command is the same build.
build = Table(
    "build", metadata, key(), hash_of(), given("kind", Text), given("method", Text),
    given("payload", LargeBinary), given("n_inputs", Integer), given("created_at", Float),
    given("version", Text), Column("lease_owner", Text), Column("lease_until", Float),
)  # fmt: skip


build_input = Table(
    "build_input", metadata, ref("build_id", "build", primary=True),
    Column("position", Integer, primary_key=True), ref("row_id", "build_row"),
    ref("source_id", "source", optional=True), sqlite_with_rowid=False,
)  # fmt: skip


# The steps that a build reached, in order.
build_stage = Table(
    "build_stage", metadata, ref("build_id", "build", primary=True),
    Column("position", Integer, primary_key=True), ref("step_id", "build_step"),
)  # fmt: skip


# The funnel of a complete build, in counts, and the banks that builds produced.
build_funnel = Table(
    "build_funnel", metadata, key(), hash_of(), ref("build_id", "build"),
    given("payload", LargeBinary), given("created_at", Float),
    Index("ix_build_funnel_build_id", "build_id"),
)  # fmt: skip


build_bank = Table(
    "build_bank", metadata, ref("build_id", "build", primary=True),
    ref("bank_id", "bank", primary=True),
)  # fmt: skip


unit = Table(
    "unit", metadata, key(), ref("item_id", "item"), given("kind", Text), given("key", LargeBinary),
    given("version", SmallInteger), given("payload", LargeBinary), text("answer_key"),
    given("n_choices", Integer), UniqueConstraint("item_id", "kind", "key"),
)  # fmt: skip


cluster = Table(
    "cluster", metadata, key(), given("kind", Text), given("key", LargeBinary),
    UniqueConstraint("kind", "key"),
)  # fmt: skip


unit_cluster = Table(
    "unit_cluster", metadata, ref("unit_id", "unit", primary=True),
    ref("cluster_id", "cluster", primary=True),
)  # fmt: skip


# ``judge`` is the printed and hashed description of a scoring. ``settings``, as JSON, are those of
# a method's own judging (such as the verification of triples); empty if judges graded responses or
# if there were none.
scoring = Table(
    "scoring", metadata, key(), hash_of(), ref("run_id", "run"), given("method", Text),
    given("scorer_version", Integer), text("judge"), given("settings", LargeBinary),
    given("created_at", Float), Column("completed_at", Float), Index("ix_scoring_run_id", "run_id"),
)  # fmt: skip


score = Table(
    "score", metadata, ref("scoring_id", "scoring", primary=True),
    ref("unit_id", "unit", primary=True), Column("sample", Integer, primary_key=True),
    Column("measure", Text, primary_key=True), given("outcome", SmallInteger),
    Column("value", Float), text("answer"), text("basis"), text("flags"),
)  # fmt: skip


# A panel's verdict on a response, behind its score: the votes with their reasons are in the
# payload.
score_verdict = Table(
    "score_verdict", metadata, ref("scoring_id", "scoring", primary=True),
    ref("unit_id", "unit", primary=True), Column("sample", Integer, primary_key=True),
    Column("measure", Text, primary_key=True), given("state", Text), text("label"),
    given("payload", LargeBinary), sqlite_with_rowid=False,
)  # fmt: skip


# Model metadata by date: a new row when it changed; the newest applies.
model_card = Table(
    "model_card", metadata, key(), hash_of(), given("model", Text), given("payload", LargeBinary),
    given("recorded_at", Float), Index("ix_model_card_model", "model"),
)  # fmt: skip


# Cards in force while a run was asked.
run_card = Table(
    "run_card", metadata, ref("run_id", "run", primary=True),
    ref("model_card_id", "model_card", primary=True),
)  # fmt: skip


# Result of a model check; the newest says if the model is unavailable.
model_check = Table(
    "model_check", metadata, key(), hash_of(), given("model", Text), given("state", Text),
    text("endpoint"), text("detail"), given("checked_at", Float),
    Index("ix_model_check_model", "model"),
)  # fmt: skip


actor = Table("actor", metadata, key(), hash_of(), given("created_at", Float))


# The only table with names: outside every hash, export and merge, so that a person can be erased.
person = Table(
    "person", metadata, ref("actor_id", "actor", primary=True), given("name", Text), text("mail"),
    text("pay_details"),
)  # fmt: skip


# Corrections by people with reasons: each row is about one fact, item or item set. The newest
# exclusion or inclusion of a row applies. An edit refers to the new version, which names the old
# one.
correction = Table(
    "correction", metadata, key(), hash_of(), given("action", Text),
    ref("fact_id", "fact", optional=True), ref("item_id", "item", optional=True),
    ref("item_set_id", "item_set", optional=True), ref("actor_id", "actor"), given("reason", Text),
    given("created_at", Float), ref("follows_id", "correction", optional=True),
    Index("ix_correction_fact_id", "fact_id"), Index("ix_correction_item_id", "item_id"),
)  # fmt: skip


# A person's override of a response to an item; it applies in every run that uses this response.
override = Table(
    "override", metadata, key(), hash_of(), ref("item_id", "item"), ref("call_id", "call"),
    ref("run_id", "run"), given("sample", Integer), given("verdict", Text),
    ref("actor_id", "actor"), given("reason", Text), given("created_at", Float),
    ref("replaces_id", "override", optional=True), Index("ix_override_item_id", "item_id"),
)  # fmt: skip


# Taxonomy labels of sources after ingestion, by the models of a build or by a person.
taxonomy_label = Table(
    "taxonomy_label", metadata, key(), hash_of(), ref("source_id", "source"), *stratum(),
    text("taxonomy"), given("models", LargeBinary), ref("build_id", "build", optional=True),
    ref("actor_id", "actor", optional=True), text("reason"), given("created_at", Float),
    ref("follows_id", "taxonomy_label", optional=True), Index("ix_taxonomy_label_source_id",
    "source_id"),
)  # fmt: skip


review_sheet = Table(
    "review_sheet", metadata, key(), hash_of(), ref("bank_id", "bank", optional=True),
    ref("item_set_id", "item_set", optional=True), ref("actor_id", "actor"),
    given("round", Integer), given("recipe", LargeBinary), given("created_at", Float),
    Index("ix_review_sheet_bank_id", "bank_id"),
    Index("ix_review_sheet_item_set_id", "item_set_id"),
)  # fmt: skip


review_place = Table(
    "review_place", metadata, ref("sheet_id", "review_sheet", primary=True),
    Column("position", Integer, primary_key=True), given("task", Text),
    ref("fact_id", "fact", optional=True), ref("item_id", "item", optional=True),
)  # fmt: skip


# Withdrawn spreadsheets, whose decisions no longer count and which cannot be imported again.
withdrawn_sheet = Table(
    "withdrawn_sheet", metadata, key(), hash_of(), ref("sheet_id", "review_sheet"),
    ref("actor_id", "actor"), text("reason"), given("created_at", Float),
    Index("ix_withdrawn_sheet_sheet_id", "sheet_id"),
)  # fmt: skip


# The newest of a person's decisions on a version applies; a judge's row names a model instead.
review = Table(
    "review", metadata, key(), hash_of(), given("task", Text),
    ref("fact_id", "fact", optional=True), ref("item_id", "item", optional=True),
    ref("actor_id", "actor", optional=True), text("judge"), given("verdict", Text), text("reason"),
    given("payload", LargeBinary), given("round", Integer),
    ref("sheet_id", "review_sheet", optional=True), given("created_at", Float),
    ref("corrects_id", "review", optional=True), Index("ix_review_fact_id", "fact_id"),
    Index("ix_review_item_id", "item_id"),
)  # fmt: skip


# Final decisions on all reviews of a bank or form.
review_decision = Table(
    "review_decision", metadata, key(), hash_of(), *of_target(),
    Index("ix_review_decision_bank_id", "bank_id"),
    Index("ix_review_decision_item_set_id", "item_set_id"),
)  # fmt: skip


# Embedding maps of the texts of a bank or form, without the texts.
semantic_map = Table(
    "semantic_map", metadata, key(), hash_of(), *of_target(),
    Index("ix_semantic_map_bank_id", "bank_id"),
    Index("ix_semantic_map_item_set_id", "item_set_id"),
)  # fmt: skip


# Preregistered plans for the runs of a form, or of a bank's forms, frozen when made.
plan = Table(
    "plan", metadata, key(), hash_of(), ref("item_set_id", "item_set", optional=True),
    ref("bank_id", "bank", optional=True), given("payload", LargeBinary),
    given("created_at", Float),
)  # fmt: skip


# A purged source, or a lifted tombstone. ``content`` is the source's own, so that the same file is
# recognized under another title; ``removed`` counts texts by kind, as JSON.
tombstone = Table(
    "tombstone", metadata, key(), hash_of(), given("kind", Text),
    given("source_hash", LargeBinary(32)), given("content", LargeBinary), ref("actor_id", "actor"),
    given("reason", Text), given("made_at", Float), given("removed", LargeBinary),
)  # fmt: skip


# A running command that may be billed, and its unrecorded expenses. Amounts are in tokens or
# picodollars, by the unit; NULL without a budget.
expense = Table(
    "expense", metadata, key(), given("owner", Text), text("runs"), text("unit"),
    Column("budget", BigInteger), given("started_at", Float), given("until", Float),
    Column("ended_at", Float), given("exposed_calls", Integer), Column("exposed", BigInteger),
    UniqueConstraint("owner", "started_at"),
)  # fmt: skip


# Files with texts of a bank, form, run or build that commands wrote, so that a purge finds them.
# ``digest`` is the SHA-256 of the content; the newest row of a path applies.
written_file = Table(
    "written_file", metadata, key(), Column("path", Text, nullable=False, index=True),
    given("kind", Text), given("target_hash", LargeBinary(32)), given("digest", LargeBinary(32)),
    given("written_at", Float),
)  # fmt: skip
