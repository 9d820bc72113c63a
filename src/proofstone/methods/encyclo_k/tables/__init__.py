"""Fact tables: rows of named values, the sentences they bear out and those they contradict."""

from proofstone.methods.encyclo_k.tables.carried import CARRIED, Book, carried_books
from proofstone.methods.encyclo_k.tables.falsifier import Falsified, Falsifier
from proofstone.methods.encyclo_k.tables.sentences import Stated, true_statements, true_texts
from proofstone.methods.encyclo_k.tables.table import (
    Claim,
    FactTable,
    agrees_with,
    is_false_against,
    read_table,
)
from proofstone.methods.encyclo_k.tables.template import Template, read_template

__all__ = [
    "CARRIED",
    "Book",
    "Claim",
    "FactTable",
    "Falsified",
    "Falsifier",
    "Stated",
    "Template",
    "agrees_with",
    "carried_books",
    "is_false_against",
    "read_table",
    "read_template",
    "true_statements",
    "true_texts",
]
