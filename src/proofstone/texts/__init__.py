"""Prompt templates and texts."""
