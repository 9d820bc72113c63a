"""Encyclo-K (Liang et al., January 2026): questions composed of knowledge statements.

Read in this order: payloads, statements, compose, questions, ask, score; README.md says what of
the paper is where.
"""
