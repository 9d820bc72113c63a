"""Audit of results from any tool."""
