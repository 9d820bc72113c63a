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
from proofstone.ports.building import (
    BatchRows,
    BatchStep,
    BuildsInSteps,
    Costs,
    Drop,
    Journal,
    Kept,
    Maker,
    ModelRole,
    Outcome,
    Pipeline,
    PipelineRow,
    Searcher,
    SourcePlace,
    Step,
    StepBuilder,
    StepCall,
    StepContext,
)
from proofstone.ports.checking import Contrast, Contrasts
from proofstone.ports.embedding import Embedder
from proofstone.ports.knowledge import BankReader, BuiltFact, FactBuilder, Sifter, TokenCounter
from proofstone.ports.method import (
    Method,
    Parameter,
    PayloadType,
    ReadsQuestions,
    Revises,
    TakesPrompts,
)
from proofstone.ports.reviewing import (
    ComparedQuestion,
    JudgedText,
    JudgesCompared,
    Reviews,
)
from proofstone.records import Row

__all__ = [
    "Attempt",
    "BankReader",
    "BatchRows",
    "BatchStep",
    "BuildsInSteps",
    "BuiltFact",
    "Call",
    "CallRecord",
    "CallStore",
    "Clock",
    "ComparedQuestion",
    "Contrast",
    "Contrasts",
    "Costs",
    "Drop",
    "Embedder",
    "FactBuilder",
    "Journal",
    "Judge",
    "JudgedText",
    "JudgesCompared",
    "Kept",
    "Limits",
    "Maker",
    "Method",
    "Model",
    "ModelRequest",
    "ModelRole",
    "Outcome",
    "Parameter",
    "PayloadType",
    "Pipeline",
    "PipelineRow",
    "ReadsQuestions",
    "Recorder",
    "Reviews",
    "Revises",
    "Row",
    "Searcher",
    "Sifter",
    "SourcePlace",
    "Step",
    "StepBuilder",
    "StepCall",
    "StepContext",
    "TakesPrompts",
    "Ticket",
    "TokenCounter",
]
