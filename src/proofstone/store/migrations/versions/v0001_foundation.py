"""The foundation: knowledge, item sets, runs, calls, scores, actors."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"


down_revision = None


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Creates every table of the first schema."""
    op.create_table(
        "actor",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_actor"),
        sa.UniqueConstraint("hash", name="uq_actor_hash"),
    )
    op.create_table(
        "bank",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_bank"),
        sa.UniqueConstraint("hash", name="uq_bank_hash"),
    )
    op.create_table(
        "cluster",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_cluster"),
        sa.UniqueConstraint("kind", "key", name="uq_cluster_kind_key"),
    )
    op.create_table(
        "item",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("version", sa.SmallInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("language", sa.Text(), server_default="", nullable=False),
        sa.Column("discipline", sa.Text(), server_default="", nullable=False),
        sa.Column("field", sa.Text(), server_default="", nullable=False),
        sa.Column("subfield", sa.Text(), server_default="", nullable=False),
        sa.Column("book", sa.Text(), server_default="", nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("corrects_id", KEY, nullable=True),
        sa.ForeignKeyConstraint(["corrects_id"], ["item.id"], name="fk_item_corrects_id"),
        sa.PrimaryKeyConstraint("id", name="pk_item"),
        sa.UniqueConstraint("hash", name="uq_item_hash"),
    )
    op.create_table(
        "profile",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("wire", sa.Text(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("settings", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_profile"),
        sa.UniqueConstraint("hash", name="uq_profile_hash"),
    )
    op.create_index("ix_profile_model", "profile", ["model"], unique=False)
    op.create_table(
        "prompt",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_prompt"),
        sa.UniqueConstraint("hash", name="uq_prompt_hash"),
    )
    op.create_table(
        "source",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("language", sa.Text(), server_default="", nullable=False),
        sa.Column("licence", sa.Text(), server_default="", nullable=False),
        sa.Column("authors", sa.LargeBinary(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("origin", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_source"),
        sa.UniqueConstraint("hash", name="uq_source_hash"),
    )
    op.create_table(
        "workspace",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_workspace"),
    )
    op.create_table(
        "call",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("request_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("profile_id", KEY, nullable=False),
        sa.Column("prompt_id", KEY, nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("completion_tokens", sa.Integer(), nullable=True),
        sa.Column("reasoning_tokens", sa.Integer(), nullable=True),
        sa.Column("cached_tokens", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("served_model", sa.Text(), server_default="", nullable=False),
        sa.Column("fingerprint", sa.Text(), server_default="", nullable=False),
        sa.Column("latency_s", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("reference", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["profile_id"], ["profile.id"], name="fk_call_profile_id"),
        sa.ForeignKeyConstraint(["prompt_id"], ["prompt.id"], name="fk_call_prompt_id"),
        sa.PrimaryKeyConstraint("id", name="pk_call"),
    )
    op.create_index("ix_call_request_hash", "call", ["request_hash"], unique=False)
    op.create_table(
        "item_set",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("bank_id", KEY, nullable=True),
        sa.Column("seed", sa.BigInteger(), nullable=True),
        sa.Column("recipe", sa.LargeBinary(), nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.id"], name="fk_item_set_bank_id"),
        sa.PrimaryKeyConstraint("id", name="pk_item_set"),
        sa.UniqueConstraint("hash", name="uq_item_set_hash"),
    )
    op.create_table(
        "passage",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("source_id", KEY, nullable=False),
        sa.Column("page", sa.Integer(), nullable=True),
        sa.Column("start_at", sa.Integer(), nullable=False),
        sa.Column("end_at", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), server_default="", nullable=False),
        sa.Column("heading", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["source.id"], name="fk_passage_source_id"),
        sa.PrimaryKeyConstraint("id", name="pk_passage"),
        sa.UniqueConstraint("hash", name="uq_passage_hash"),
    )
    op.create_table(
        "person",
        sa.Column("actor_id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("mail", sa.Text(), server_default="", nullable=False),
        sa.Column("pay_details", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["actor_id"], ["actor.id"], name="fk_person_actor_id"),
        sa.PrimaryKeyConstraint("actor_id", name="pk_person"),
    )
    op.create_table(
        "unit",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("item_id", KEY, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("version", sa.SmallInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("gold", sa.Text(), server_default="", nullable=False),
        sa.Column("n_choices", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_unit_item_id"),
        sa.PrimaryKeyConstraint("id", name="pk_unit"),
        sa.UniqueConstraint("item_id", "kind", "key", name="uq_unit_item_id_kind_key"),
    )
    op.create_table(
        "fact",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("version", sa.SmallInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("language", sa.Text(), server_default="", nullable=False),
        sa.Column("discipline", sa.Text(), server_default="", nullable=False),
        sa.Column("field", sa.Text(), server_default="", nullable=False),
        sa.Column("subfield", sa.Text(), server_default="", nullable=False),
        sa.Column("book", sa.Text(), server_default="", nullable=False),
        sa.Column("source_id", KEY, nullable=True),
        sa.Column("passage_id", KEY, nullable=True),
        sa.Column("page", sa.Text(), server_default="", nullable=False),
        sa.Column("corrects_id", KEY, nullable=True),
        sa.ForeignKeyConstraint(["corrects_id"], ["fact.id"], name="fk_fact_corrects_id"),
        sa.ForeignKeyConstraint(["passage_id"], ["passage.id"], name="fk_fact_passage_id"),
        sa.ForeignKeyConstraint(["source_id"], ["source.id"], name="fk_fact_source_id"),
        sa.PrimaryKeyConstraint("id", name="pk_fact"),
        sa.UniqueConstraint("hash", name="uq_fact_hash"),
    )
    op.create_table(
        "item_set_item",
        sa.Column("item_set_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("item_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_item_set_item_item_id"),
        sa.ForeignKeyConstraint(
            ["item_set_id"], ["item_set.id"], name="fk_item_set_item_item_set_id"
        ),
        sa.PrimaryKeyConstraint("item_set_id", "position", name="pk_item_set_item"),
    )
    op.create_table(
        "run",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("item_set_id", KEY, nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("respondent", sa.Text(), nullable=False),
        sa.Column("way", sa.Text(), nullable=False),
        sa.Column("last_step", sa.Text(), nullable=False),
        sa.Column("prompt_hash", sa.LargeBinary(), nullable=False),
        sa.Column("settings", sa.LargeBinary(), nullable=False),
        sa.Column("replicate", sa.Text(), server_default="", nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["item_set_id"], ["item_set.id"], name="fk_run_item_set_id"),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
        sa.UniqueConstraint("hash", name="uq_run_hash"),
    )
    op.create_table(
        "unit_cluster",
        sa.Column("unit_id", KEY, nullable=False),
        sa.Column("cluster_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name="fk_unit_cluster_cluster_id"),
        sa.ForeignKeyConstraint(["unit_id"], ["unit.id"], name="fk_unit_cluster_unit_id"),
        sa.PrimaryKeyConstraint("unit_id", "cluster_id", name="pk_unit_cluster"),
    )
    op.create_table(
        "bank_fact",
        sa.Column("bank_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("fact_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.id"], name="fk_bank_fact_bank_id"),
        sa.ForeignKeyConstraint(["fact_id"], ["fact.id"], name="fk_bank_fact_fact_id"),
        sa.PrimaryKeyConstraint("bank_id", "position", name="pk_bank_fact"),
    )
    op.create_table(
        "fact_role",
        sa.Column("fact_id", KEY, nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["fact_id"], ["fact.id"], name="fk_fact_role_fact_id"),
        sa.PrimaryKeyConstraint("fact_id", "role", "model", name="pk_fact_role"),
    )
    op.create_table(
        "failure",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("item_id", KEY, nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("call_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["call_id"], ["call.id"], name="fk_failure_call_id"),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_failure_item_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_failure_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_failure"),
    )
    op.create_index("ix_failure_run_id", "failure", ["run_id"], unique=False)
    op.create_table(
        "item_fact",
        sa.Column("item_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("fact_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["fact_id"], ["fact.id"], name="fk_item_fact_fact_id"),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_item_fact_item_id"),
        sa.PrimaryKeyConstraint("item_id", "position", name="pk_item_fact"),
    )
    op.create_table(
        "response",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("item_id", KEY, nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("call_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["call_id"], ["call.id"], name="fk_response_call_id"),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_response_item_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_response_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_response"),
        sa.UniqueConstraint(
            "run_id", "item_id", "sample", "step", name="uq_response_run_id_item_id_sample_step"
        ),
    )
    op.create_table(
        "scoring",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("scorer_version", sa.Integer(), nullable=False),
        sa.Column("judge", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("completed_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_scoring_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_scoring"),
        sa.UniqueConstraint("hash", name="uq_scoring_hash"),
    )
    op.create_index("ix_scoring_run_id", "scoring", ["run_id"], unique=False)
    op.create_table(
        "score",
        sa.Column("scoring_id", KEY, nullable=False),
        sa.Column("unit_id", KEY, nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("outcome", sa.SmallInteger(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("answer", sa.Text(), server_default="", nullable=False),
        sa.Column("basis", sa.Text(), server_default="", nullable=False),
        sa.Column("flags", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["scoring_id"], ["scoring.id"], name="fk_score_scoring_id"),
        sa.ForeignKeyConstraint(["unit_id"], ["unit.id"], name="fk_score_unit_id"),
        sa.PrimaryKeyConstraint("scoring_id", "unit_id", "sample", "measure", name="pk_score"),
    )
