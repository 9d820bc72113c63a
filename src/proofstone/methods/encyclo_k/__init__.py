"""Encyclo-K: questions composed of knowledge statements."""
