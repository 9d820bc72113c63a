"""The tables: integer keys inside, 32-byte content hashes UNIQUE, payloads as canonical JSON bytes.

What is filtered or joined is a typed column; everything else of a record stands in its payload.
Rows are appended. The only columns ever updated are the lease of a run or build, a scoring's
completion and an expense's bound; and a purge takes the texts out of the rows that hold them.
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

# The columns that tables have in common, and where tables are registered.

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
    """The integer key of a row."""
    return Column("id", Key, primary_key=True, autoincrement=True)


def hash_of() -> Column[bytes]:
    """The content hash that names a row everywhere."""
    return Column("hash", LargeBinary(32), nullable=False, unique=True)


def ref(name: str, target: str, *, optional: bool = False, primary: bool = False) -> Column[int]:
    """The key of a row of another table."""
    return Column(name, Key, ForeignKey(f"{target}.id"), nullable=optional, primary_key=primary)


def given(name: str, kind: Any) -> Column[Any]:
    """A column that is never NULL."""
    return Column(name, kind, nullable=False)


def text(name: str) -> Column[str]:
    """A text that is never NULL."""
    return Column(name, Text, nullable=False, server_default="")


def stratum() -> list[Column[str]]:
    """The four levels of the taxonomy."""
    return [text(level) for level in ("discipline", "field", "subfield", "book")]


def payload() -> list[Column]:  # type: ignore[type-arg]
    """A tagged payload with its version."""
    return [
        given("kind", Text),
        given("version", SmallInteger),
        given("payload", LargeBinary),
    ]


def of_target() -> list[Column]:  # type: ignore[type-arg]
    """A record of a bank or form, its content as JSON."""
    return [
        ref("bank_id", "bank", optional=True),
        ref("item_set_id", "item_set", optional=True),
        given("payload", LargeBinary),
        given("created_at", Float),
    ]


REVISIONS = ("v0001",)  # oldest first, a file each in migrations/versions; a test compares them


HEAD = REVISIONS[-1]


# Each table stands behind those that it refers to: in this order a merge copies them.

workspace = Table(
    "workspace", metadata, Column("key", Text, primary_key=True), Column("value", Text),
)  # fmt: skip


# Where a database says its revision; Alembic's own table, and none of the workspace's rows.
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


# One reading of a page; the newest of a source and number holds. An unread page says why.
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


# What filters left of the file that became a bank: counts alone, as JSON.
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


# What a file calls an item of the set that was imported from it, and the columns of its row that
# mean nothing to the method, as JSON. Only items that have either.
item_label = Table(
    "item_label", metadata, ref("item_set_id", "item_set", primary=True),
    ref("item_id", "item", primary=True), text("name"), given("metadata", LargeBinary),
    Index("ix_item_label_name", "name"), Index("ix_item_label_item_id", "item_id"),
    sqlite_with_rowid=False,
)  # fmt: skip


# A model that had a hand in a whole set (wrote an imported file, filtered a form).
item_set_role = Table(
    "item_set_role", metadata, ref("item_set_id", "item_set", primary=True),
    Column("role", Text, primary_key=True), Column("model", Text, primary_key=True),
)  # fmt: skip


# Sets and banks that were made from others by correcting a few of their rows.
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


# How many items, from the set's first on, commands asked of a run: the most holds.
run_limit = Table(
    "run_limit", metadata, ref("run_id", "run", primary=True),
    Column("n_items", Integer, primary_key=True, autoincrement=False),
)  # fmt: skip


image = Table(
    "image", metadata, key(), hash_of(), given("media_type", Text), given("body", LargeBinary),
)  # fmt: skip


prompt = Table("prompt", metadata, key(), hash_of(), given("body", LargeBinary))


# What a run's calls have in common, once: the model behind its endpoint and the settings.
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


# A call that failed for good in this process; the item is asked again on resume.
failure = Table(
    "failure", metadata, key(), ref("run_id", "run"), ref("item_id", "item"),
    given("sample", Integer), given("step", Text), ref("call_id", "call"),
    Index("ix_failure_run_id", "run_id"),
)  # fmt: skip


# What a pilot asked, outside of a run, with so many worked examples: so that it is known what was
# sent where, and what goes with its source. A run that asks the same takes it from the cache.
pilot_call = Table(
    "pilot_call", metadata, ref("call_id", "call", primary=True),
    ref("item_id", "item", primary=True), ref("item_set_id", "item_set"), given("shots", Integer),
)  # fmt: skip


# A row on its way through a pipeline: the same content is the same row in all builds.
build_row = Table("build_row", metadata, key(), hash_of(), given("payload", LargeBinary))


# A step with its version and configuration (its hash), of a batch step over certain rows.
build_step = Table(
    "build_step", metadata, key(), hash_of(), given("name", Text), given("version", Integer),
    given("config", LargeBinary),
)  # fmt: skip


# What a step made of a row: kept as it was, made into others (build_output), or dropped. Keys come
# in the order of the work, so that rows without a key of their own lie close together.
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


# What a panel of judges said on the way to an outcome, question by question: its ballots with their
# reasons are in the payload.
build_verdict = Table(
    "build_verdict", metadata, ref("step_id", "build_step", primary=True),
    ref("row_id", "build_row", primary=True), Column("position", Integer, primary_key=True),
    given("question", Text), given("state", Text), text("label"), given("payload", LargeBinary),
    sqlite_with_rowid=False,
)  # fmt: skip


# The calls that a step made for a row; those of a batch step stand at a row without content.
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


# The funnel of a build that was whole, in counts, and the banks that builds became.
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


# ``judge`` is how a scoring is printed and hashed; ``settings``, as JSON, what a method of judging
# of its own was set to (as the verification of triples): empty where judges graded replies, and
# where none was asked.
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


# What a panel of judges said of a reply, behind the score that rests on it: its ballots with their
# reasons are in the payload.
score_verdict = Table(
    "score_verdict", metadata, ref("scoring_id", "scoring", primary=True),
    ref("unit_id", "unit", primary=True), Column("sample", Integer, primary_key=True),
    Column("measure", Text, primary_key=True), given("state", Text), text("label"),
    given("payload", LargeBinary), sqlite_with_rowid=False,
)  # fmt: skip


# What was known of a model, and since when: a new row where it changed; the newest is in force.
model_card = Table(
    "model_card", metadata, key(), hash_of(), given("model", Text), given("payload", LargeBinary),
    given("recorded_at", Float), Index("ix_model_card_model", "model"),
)  # fmt: skip


# Which cards were in force while a run was asked.
run_card = Table(
    "run_card", metadata, ref("run_id", "run", primary=True),
    ref("model_card_id", "model_card", primary=True),
)  # fmt: skip


# What a check of a model came to; the newest says whether it is retired.
model_check = Table(
    "model_check", metadata, key(), hash_of(), given("model", Text), given("state", Text),
    text("endpoint"), text("detail"), given("checked_at", Float),
    Index("ix_model_check_model", "model"),
)  # fmt: skip


actor = Table("actor", metadata, key(), hash_of(), given("created_at", Float))


# The one place of names: outside every hash, export and merge, so that a person can be erased.
person = Table(
    "person", metadata, ref("actor_id", "actor", primary=True), given("name", Text), text("mail"),
    text("pay_details"),
)  # fmt: skip


# What people did to rows, and why: each row speaks of one fact, item or item set. The newest of a
# row's retirements and restorations holds; an edit's row is the new version, which names the old.
correction = Table(
    "correction", metadata, key(), hash_of(), given("action", Text),
    ref("fact_id", "fact", optional=True), ref("item_id", "item", optional=True),
    ref("item_set_id", "item_set", optional=True), ref("actor_id", "actor"), given("reason", Text),
    given("created_at", Float), ref("follows_id", "correction", optional=True),
    Index("ix_correction_fact_id", "fact_id"), Index("ix_correction_item_id", "item_id"),
)  # fmt: skip


# A person's ruling over a reply to an item; it holds in every run that this very reply serves.
override = Table(
    "override", metadata, key(), hash_of(), ref("item_id", "item"), ref("call_id", "call"),
    ref("run_id", "run"), given("sample", Integer), given("verdict", Text),
    ref("actor_id", "actor"), given("reason", Text), given("created_at", Float),
    ref("replaces_id", "override", optional=True), Index("ix_override_item_id", "item_id"),
)  # fmt: skip


# Where a source was placed since it was taken in, by the models of a build or by a person.
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


# Sheets whose decisions count no longer, and which are not taken in any more.
withdrawn_sheet = Table(
    "withdrawn_sheet", metadata, key(), hash_of(), ref("sheet_id", "review_sheet"),
    ref("actor_id", "actor"), text("reason"), given("created_at", Float),
    Index("ix_withdrawn_sheet_sheet_id", "sheet_id"),
)  # fmt: skip


# The newest of a person's decisions on a version holds; a judge's names a model instead of a
# person.
review = Table(
    "review", metadata, key(), hash_of(), given("task", Text),
    ref("fact_id", "fact", optional=True), ref("item_id", "item", optional=True),
    ref("actor_id", "actor", optional=True), text("judge"), given("verdict", Text), text("reason"),
    given("payload", LargeBinary), given("round", Integer),
    ref("sheet_id", "review_sheet", optional=True), given("created_at", Float),
    ref("corrects_id", "review", optional=True), Index("ix_review_fact_id", "fact_id"),
    Index("ix_review_item_id", "item_id"),
)  # fmt: skip


# What all reviews of a bank or form came to, when somebody decided it.
review_decision = Table(
    "review_decision", metadata, key(), hash_of(), *of_target(),
    Index("ix_review_decision_bank_id", "bank_id"),
    Index("ix_review_decision_item_set_id", "item_set_id"),
)  # fmt: skip


# Where the texts of a bank or form lie in meaning, without the texts.
semantic_map = Table(
    "semantic_map", metadata, key(), hash_of(), *of_target(),
    Index("ix_semantic_map_bank_id", "bank_id"),
    Index("ix_semantic_map_item_set_id", "item_set_id"),
)  # fmt: skip


# What will be looked at in the runs of a form, or of a bank's forms, frozen when it was made.
plan = Table(
    "plan", metadata, key(), hash_of(), ref("item_set_id", "item_set", optional=True),
    ref("bank_id", "bank", optional=True), given("payload", LargeBinary),
    given("created_at", Float),
)  # fmt: skip


# A source that was purged, or whose tombstone was lifted. ``content`` is the source's own, so that
# the same file is known under another title; ``removed`` counts texts by kind, as JSON.
tombstone = Table(
    "tombstone", metadata, key(), hash_of(), given("kind", Text),
    given("source_hash", LargeBinary(32)), given("content", LargeBinary), ref("actor_id", "actor"),
    given("reason", Text), given("made_at", Float), given("removed", LargeBinary),
)  # fmt: skip


# A command that may be billed, while it is at work, and what it left unrecorded. Amounts are in
# tokens or picodollars, by the unit; NULL where there was no budget to bound them.
expense = Table(
    "expense", metadata, key(), given("owner", Text), text("runs"), text("unit"),
    Column("budget", BigInteger), given("started_at", Float), given("until", Float),
    Column("ended_at", Float), given("exposed_calls", Integer), Column("exposed", BigInteger),
    UniqueConstraint("owner", "started_at"),
)  # fmt: skip


# Files that commands wrote with texts of a bank, form, run or build, so that a purge finds them.
# ``digest`` is the SHA-256 of what was written; the newest row of a path holds.
written_file = Table(
    "written_file", metadata, key(), Column("path", Text, nullable=False, index=True),
    given("kind", Text), given("target_hash", LargeBinary(32)), given("digest", LargeBinary(32)),
    given("written_at", Float),
)  # fmt: skip
