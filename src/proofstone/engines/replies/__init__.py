"""Replies in a form that was asked for: JSON read as a struct, answers in a stated format."""

from proofstone.engines.replies.answer_format import AnswerFormat, read_answer_format
from proofstone.engines.replies.objects import ask_for, object_of

__all__ = ["AnswerFormat", "ask_for", "object_of", "read_answer_format"]
