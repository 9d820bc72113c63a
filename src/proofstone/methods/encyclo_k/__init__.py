"""Encyclo-K (Liang et al., January 2026): questions composed of knowledge statements.

Read in this order: payloads, statements, compose, questions, ask, score. README.md maps the paper
to the modules.
"""
