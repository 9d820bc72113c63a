"""The methods paragraph of a page: text for a paper, from what is recorded and nothing else."""

from proofstone.report.methods_text.paragraphs import methods_text

__all__ = ["methods_text"]
