"""Small protocols, each named for its user, through which the layers meet.

An engine or a method receives these and never constructs them; ``wiring`` does. Nothing here
imports an engine, a client library or a database.
"""

from proofstone.ports.asking import (
    Attempt,
    Call,
    CallRecord,
    CallStore,
    Clock,
    Judge,
    Limits,
    Model,
    ModelRequest,
    Recorder,
    Ticket,
)
from proofstone.ports.knowledge import BankReader, BuiltFact, FactBuilder, Sifter, TokenCounter
from proofstone.ports.method import Method, Parameter, PayloadType, Revises, TakesPrompts
from proofstone.records import Row

__all__ = [
    "Attempt",
    "BankReader",
    "BuiltFact",
    "Call",
    "CallRecord",
    "CallStore",
    "Clock",
    "FactBuilder",
    "Judge",
    "Limits",
    "Method",
    "Model",
    "ModelRequest",
    "Parameter",
    "PayloadType",
    "Recorder",
    "Revises",
    "Row",
    "Sifter",
    "TakesPrompts",
    "Ticket",
    "TokenCounter",
]
