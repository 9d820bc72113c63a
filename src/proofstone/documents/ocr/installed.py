"""Whether what reads images is installed, told without loading it."""

from __future__ import annotations

from importlib.util import find_spec

OCR_READER = "ocr 1"  # a number of its own for every change that can move a text


INSTALL = "pip install 'proofstone[ocr]'"


def is_ocr_installed() -> bool:
    """Whether images of pages can be read here."""
    return all(find_spec(name) is not None for name in ("rapidocr", "onnxruntime", "pypdfium2"))
