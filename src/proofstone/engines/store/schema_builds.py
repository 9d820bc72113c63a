"""The tables of building in steps: rows, steps, what steps made of rows and judges said of them,
builds, and where sources were placed."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Integer, LargeBinary, Table, Text

from proofstone.engines.store.schema_columns import hash_of, key, metadata, ref, stratum, text

__all__ = [
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
    "placement",
]

# A row on its way through a pipeline: the same content is the same row in all builds.
build_row = Table(
    "build_row", metadata, key(), hash_of(), Column("payload", LargeBinary, nullable=False)
)

# A step with its version and configuration (its hash), of a batch step over certain rows.
build_step = Table(
    "build_step", metadata, key(), hash_of(), Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False), Column("config", LargeBinary, nullable=False),
)  # fmt: skip

# What a step made of a row: kept as it was, made into others (build_output), or dropped. Keys come
# in the order of the work, so that rows without a key of their own lie close together.
build_outcome = Table(
    "build_outcome", metadata, ref("step_id", "build_step", primary=True),
    ref("row_id", "build_row", primary=True), Column("is_same", Boolean, nullable=False),
    text("reason"), text("found"), sqlite_with_rowid=False,
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
    Column("question", Text, nullable=False), Column("state", Text, nullable=False),
    text("label"), Column("payload", LargeBinary, nullable=False), sqlite_with_rowid=False,
)  # fmt: skip

# The calls that a step made for a row; those of a batch step stand at a row without content.
build_call = Table(
    "build_call", metadata, ref("step_id", "build_step", primary=True),
    ref("row_id", "build_row", primary=True), ref("call_id", "call", primary=True),
    Index("ix_build_call_call_id", "call_id"), sqlite_with_rowid=False,
)  # fmt: skip

# A pipeline over certain rows: the same command is the same build.
build = Table(
    "build", metadata, key(), hash_of(), Column("kind", Text, nullable=False),
    Column("method", Text, nullable=False), Column("payload", LargeBinary, nullable=False),
    Column("n_inputs", Integer, nullable=False), Column("created_at", Float, nullable=False),
    Column("version", Text, nullable=False),
    Column("lease_owner", Text), Column("lease_until", Float),
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
    Column("payload", LargeBinary, nullable=False), Column("created_at", Float, nullable=False),
    Index("ix_build_funnel_build_id", "build_id"),
)  # fmt: skip

build_bank = Table(
    "build_bank", metadata, ref("build_id", "build", primary=True),
    ref("bank_id", "bank", primary=True),
)  # fmt: skip

# Where a source was placed since it was taken in, by the models of a build or by a person.
placement = Table(
    "placement", metadata, key(), hash_of(), ref("source_id", "source"), *stratum(),
    text("taxonomy"), Column("models", LargeBinary, nullable=False),
    ref("build_id", "build", optional=True), ref("actor_id", "actor", optional=True),
    text("reason"), Column("created_at", Float, nullable=False),
    ref("follows_id", "placement", optional=True), Index("ix_placement_source_id", "source_id"),
)  # fmt: skip
