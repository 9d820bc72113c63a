"""The columns that tables have in common, and where tables are registered."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Text,
)

__all__ = ["Key", "hash_of", "key", "metadata", "of_target", "payload", "ref", "stratum", "text"]

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


def text(name: str) -> Column[str]:
    """A text that is never NULL."""
    return Column(name, Text, nullable=False, server_default="")


def stratum() -> list[Column[str]]:
    """The four levels of the taxonomy."""
    return [text(level) for level in ("discipline", "field", "subfield", "book")]


def payload() -> list[Column]:  # type: ignore[type-arg]
    """A tagged payload with its version."""
    return [
        Column("kind", Text, nullable=False),
        Column("version", SmallInteger, nullable=False),
        Column("payload", LargeBinary, nullable=False),
    ]


def of_target() -> list[Column]:  # type: ignore[type-arg]
    """A record of a bank or form, its content as JSON."""
    return [
        ref("bank_id", "bank", optional=True),
        ref("item_set_id", "item_set", optional=True),
        Column("payload", LargeBinary, nullable=False),
        Column("created_at", Float, nullable=False),
    ]
