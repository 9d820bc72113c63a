"""Encyclo-K (Liang et al., January 2026): questions composed of knowledge statements.

Read in this order: payloads, build, recipe, items, ask, score; README.md says what of the paper is
where.
"""

from __future__ import annotations

from proofstone.methods.encyclo_k.method import EncycloK
from proofstone.ports import Method

__all__ = ["METHOD"]

METHOD: Method = EncycloK()
