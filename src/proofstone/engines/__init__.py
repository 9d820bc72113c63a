"""Engines: each knows one thing, none knows a method, none imports another."""
