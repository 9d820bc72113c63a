"""Measure recognition of page images: pages are rendered, degraded, and read again.

    python bench/reading_images.py BOOK.pdf --pages 31,60,61 --dpi 150
    python bench/reading_images.py BOOK.pdf --pages 31,60,61 --dpi 150 --tilt 1.5 --noise 12

The reference is the text of the same pages in the PDF, without white space and lines of formulas.
The error rate is the number of character edits per hundred characters.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import unicodedata
from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter

from proofstone.documents.reader import OCR_LIMITS, GuardedReader, Job, PageRead
from proofstone.records.pages import unpack_layout

_MATHS = ("equation", "figure", "contents")


def main() -> None:
    """Read the arguments, and print one row per page."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("book", type=Path)
    asked.add_argument("--pages", required=True)
    asked.add_argument("--dpi", type=float, default=150)
    asked.add_argument("--tilt", type=float, default=0, help="degrees")
    asked.add_argument("--noise", type=float, default=0, help="standard deviation, of 255")
    given = asked.parse_args()
    numbers = [int(each) for each in given.pages.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        scan = Path(folder, "scan.pdf")
        _scan(given.book, numbers, scan, given.dpi, given.tilt, given.noise)
        printed = _read(Job(path=str(given.book)), set(numbers))
        began = _processor_s()
        seen = _read(Job(path=str(scan), scan=tuple(range(1, len(numbers) + 1))), None)
        took = _processor_s() - began
    wrong = total = 0
    for place, number in enumerate(numbers, start=1):
        wanted, got = _plain(printed[number]), _plain(seen[place])
        errors = _distance(wanted, got)
        wrong, total = wrong + errors, total + len(wanted)
        page = seen[place]
        sure = unpack_layout(page.layout, page.width, page.height).confidence(0, len(page.text))
        share = 100 * errors / max(1, len(wanted))
        print(f"page {number}: {len(wanted)} characters, {share:.2f}% wrong, confidence {sure:.3f}")
    share = 100 * wrong / total
    print(f"{share:.2f}% of {total} characters wrong; {took / len(numbers):.1f} processor s a page")


def _processor_s() -> float:
    """Return processor seconds of terminated child processes, which includes loading of models."""
    times = os.times()
    return times.children_user + times.children_system


def _scan(book: Path, numbers: list[int], to: Path, dpi: float, tilt: float, noise: float) -> None:
    rng = np.random.default_rng(0)
    images = []
    with pypdfium2.PdfDocument(book) as document:
        for number in numbers:
            image = document[number - 1].render(scale=dpi / 72).to_pil().convert("L")
            if tilt:
                image = image.rotate(tilt, fillcolor=255, resample=Image.Resampling.BICUBIC)
            if noise:
                blurred = np.asarray(image.filter(ImageFilter.GaussianBlur(0.6)), dtype=float)
                worse = 0.9 * blurred + 10 + rng.normal(0, noise, blurred.shape)
                image = Image.fromarray(np.clip(worse, 0, 255).astype(np.uint8))
            images.append(image)
    images[0].save(to, save_all=True, append_images=images[1:], resolution=dpi)


def _read(job: Job, wanted: set[int] | None) -> dict[int, PageRead]:
    with GuardedReader(OCR_LIMITS) as reader:
        return {
            event.number: event
            for _place, event in reader.read([job])
            if isinstance(event, PageRead)
            and event.number is not None
            and (wanted is None or event.number in wanted)
        }


def _plain(page: PageRead) -> str:
    """Return a page's characters without white space and formulas."""
    left_out = [
        (mark.start, mark.end)
        for mark in unpack_layout(page.layout, page.width, page.height).marks
        if mark.kind in _MATHS
    ]
    kept = "".join(
        character
        for place, character in enumerate(page.text)
        if not any(start <= place < end for start, end in left_out)
    )
    return "".join(unicodedata.normalize("NFKC", kept).replace("^", "").replace("_", "").split())


def _distance(wanted: str, got: str) -> int:
    """Return the Levenshtein distance, computed row by row; insertions use a running minimum."""
    codes = np.array([ord(character) for character in got])
    steps = np.arange(len(got) + 1)
    row = steps.copy()
    for character in wanted:
        changed = row[:-1] + (codes != ord(character))
        fresh = np.concatenate([[row[0] + 1], np.minimum(changed, row[1:] + 1)])
        row = np.minimum.accumulate(fresh - steps) + steps
    return int(row[-1])


if __name__ == "__main__":
    main()
