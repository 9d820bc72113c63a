"""The tables of reviews: what a person was given of a bank or form, and what was decided.

The newest of a person's decisions on a version holds; a judge's names a model instead of a person.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, Table, Text

from proofstone.engines.store.schema_columns import hash_of, key, metadata, of_target, ref, text

__all__ = ["review", "review_decision", "review_place", "review_sheet", "withdrawn_sheet"]

review_sheet = Table(
    "review_sheet", metadata, key(), hash_of(), ref("bank_id", "bank", optional=True),
    ref("item_set_id", "item_set", optional=True), ref("actor_id", "actor"),
    Column("round", Integer, nullable=False), Column("recipe", LargeBinary, nullable=False),
    Column("created_at", Float, nullable=False),
    Index("ix_review_sheet_bank_id", "bank_id"),
    Index("ix_review_sheet_item_set_id", "item_set_id"),
)  # fmt: skip

review_place = Table(
    "review_place", metadata, ref("sheet_id", "review_sheet", primary=True),
    Column("position", Integer, primary_key=True), Column("task", Text, nullable=False),
    ref("fact_id", "fact", optional=True), ref("item_id", "item", optional=True),
)  # fmt: skip

# Sheets whose decisions count no longer, and which are not taken in any more.
withdrawn_sheet = Table(
    "withdrawn_sheet", metadata, key(), hash_of(), ref("sheet_id", "review_sheet"),
    ref("actor_id", "actor"), text("reason"), Column("created_at", Float, nullable=False),
    Index("ix_withdrawn_sheet_sheet_id", "sheet_id"),
)  # fmt: skip

review = Table(
    "review", metadata, key(), hash_of(), Column("task", Text, nullable=False),
    ref("fact_id", "fact", optional=True), ref("item_id", "item", optional=True),
    ref("actor_id", "actor", optional=True), text("judge"),
    Column("verdict", Text, nullable=False), text("reason"),
    Column("payload", LargeBinary, nullable=False), Column("round", Integer, nullable=False),
    ref("sheet_id", "review_sheet", optional=True), Column("created_at", Float, nullable=False),
    ref("corrects_id", "review", optional=True),
    Index("ix_review_fact_id", "fact_id"), Index("ix_review_item_id", "item_id"),
)  # fmt: skip

# What all reviews of a bank or form came to, when somebody decided it.
review_decision = Table(
    "review_decision", metadata, key(), hash_of(), *of_target(),
    Index("ix_review_decision_bank_id", "bank_id"),
    Index("ix_review_decision_item_set_id", "item_set_id"),
)  # fmt: skip
