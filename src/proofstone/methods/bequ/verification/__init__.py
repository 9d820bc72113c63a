"""Triples checked both ways: is what was said true, and was what is known said."""
