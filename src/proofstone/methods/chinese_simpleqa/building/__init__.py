"""``build short-qa INPUT...``: from passages, or from ready pairs, to a bank of short questions.

Read ``pipeline`` first: it names the steps in their order, each in a file of its own.
"""

from proofstone.methods.chinese_simpleqa.building.pipeline import PIPELINES

__all__ = ["PIPELINES"]
