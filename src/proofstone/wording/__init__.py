"""All texts for readers, in English and in Chinese: what code says, and the catalogue of it."""

from proofstone.wording.counting import counted, joined, listed, paragraph
from proofstone.wording.filling import filled
from proofstone.wording.language import LANGUAGES, Language, language, language_tag, speaking
from proofstone.wording.messages import catalogue, noted, nouns, say, say_of, word

__all__ = [
    "LANGUAGES",
    "Language",
    "catalogue",
    "counted",
    "filled",
    "joined",
    "language",
    "language_tag",
    "listed",
    "noted",
    "nouns",
    "paragraph",
    "say",
    "say_of",
    "speaking",
    "word",
]
