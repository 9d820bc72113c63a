"""Clients of language models: asking, budgets, replies, cost."""
