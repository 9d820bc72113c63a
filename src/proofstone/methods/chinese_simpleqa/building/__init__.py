"""``build short-qa INPUT...``: from passages, ready pairs or multiple-choice questions to a bank of
short questions; ``build choices FILE...``: options for them.

Read ``pipeline`` first: it names the steps in their order, each in a file of its own.
"""

from proofstone.methods.chinese_simpleqa.building.pipeline import PIPELINES

__all__ = ["PIPELINES"]
