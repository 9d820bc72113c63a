"""Judges: questions to models about answers, their verdicts, and attacks on them."""
