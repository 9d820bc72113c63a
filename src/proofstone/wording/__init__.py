"""Texts for readers, in English and Chinese: messages and their translations."""
