"""Made-up figures of every kind: plain ones, and those that break drawings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from proofstone.page.section import Curve, Figure, FigureKind, Level, Mark, Span

NAN = math.nan
LONG = [
    f"organisation-{i}/very-long-model-name-{i}-instruct-2026-preview reasoning high"
    for i in range(60)
]
CHINESE = [
    "通义千问-3-235B",
    "深度求索-V4",
    "一个非常长的中文模型名称用来检查标签是否会被截断或者互相重叠的情况",
]
GROUPS = ("Physics", "Law", "Literature and the arts of the nineteenth century in western Europe")
CHANCE = (Level(value=0.25, text="chance 25.0"), Level(value=0.7, text="people 70.0"))


def share(place: int, part: int = 0) -> float:
    """Different shares from 0.2 to 0.8, the same at each run."""
    return 0.2 + 0.6 * ((7 * place + 3 * part) % 13) / 13


def mark(row: str, column: str = "", *, value: float, x: float = NAN, text: str = "") -> Mark:
    return Mark(
        row=row, column=column, value=value, low=value - 0.05, high=value + 0.05, n=100, x=x,
        text=text,
    )  # fmt: skip


def figure(kind: FigureKind, marks: Sequence[Mark], **more: object) -> Figure:
    return Figure(
        name=kind, kind=kind, title="Accuracy by model", subtitle="1,000 items", marks=tuple(marks),
        **more,  # type: ignore[arg-type]
    )  # fmt: skip


def every_kind(names: Sequence[str]) -> Iterator[Figure]:
    """A figure of each kind of these models."""
    each = list(enumerate(names))
    n = len(names)
    yield figure(
        "dots",
        [mark(name, value=share(i), text=f"{100 * share(i):.1f}") for i, name in each],
        spans=tuple(Span(first=i, last=min(i + 2, n - 1)) for i in range(max(n - 1, 0))),
        levels=CHANCE,
    )
    grid = [(name, i, group, g) for g, group in enumerate(GROUPS) for i, name in each]
    yield figure("strips", [mark(g, a, value=share(i, k)) for a, i, g, k in grid], levels=CHANCE)
    yield figure("heat", [mark(a, g, value=share(i, k), text="51") for a, i, g, k in grid])
    pairs = [(a, b) for i, a in each for b in names[i + 1 :]]
    yield figure("matrix", [mark(a, b, value=0.05, text="+5.0") for a, b in pairs])
    ranks = [(name, str(rank)) for name in names for rank in (1, 2, 3)]
    yield figure("ranks", [mark(a, rank, value=1 / 3, text="33") for a, rank in ranks])
    steps = [(i, name, float(size)) for i, name in each for size in (1, 2, 4)]
    over = {"x_axis": "samples", "x_unit": "number", "is_log": True, "levels": CHANCE}
    yield figure("curves", [mark(a, value=share(i), x=x) for i, a, x in steps], **over)
    rules = [mark(r, a, value=share(i), x=x) for i, a, x in steps for r in ("oracle", "majority")]
    yield figure("curves", rules, **over)
    yield figure("points", [mark(a, value=share(i), x=0.01 + i) for i, a in each], **over)
    fits = tuple(Curve(row=name, x=(1.0, 4.0), values=(0.3, 0.5)) for name in names)
    sized = [mark(a, value=share(i), x=x, text=f"{x:g}B") for i, a, x in steps]
    yield figure("points", sized, curves=fits, **over)
    bins = [(a, k) for a in names for k in range(5)]
    yield figure("calibration", [mark(a, value=0.1 + k / 6, x=0.1 + k / 5) for a, k in bins])
    asked = [
        (i, a, prompt_method, k)
        for i, a in each
        for k, prompt_method in enumerate(("direct", "cot"))
    ]
    yield figure(
        "dumbbells", [mark(a, w, value=share(i, k)) for i, a, w, k in asked], levels=CHANCE
    )
    sides = [(a, "MMLU", float(i + 1)) for i, a in each] + [
        (a, "KINA", float(n - i)) for i, a in each
    ]
    yield figure("slopes", [mark(a, b, value=r) for a, b, r in sides], value_unit="number")
    yield figure("bars", [mark(a, g, value=float(i)) for a, i, g, _ in grid], value_unit="number")
    hill = tuple(math.exp(-(((x - 10) / 3) ** 2)) for x in range(21))
    across = tuple(x / 20 for x in range(21))
    by_level = tuple(
        Curve(row=a, column=c, x=across, values=hill) for a in names for c in ("field", "book")
    )
    middles = [mark(a, c, value=0.5) for a in names for c in ("field", "book")]
    yield figure("violins", middles, curves=by_level)
    by_model = tuple(Curve(row=a, x=across, values=hill) for a in names)
    groups = [mark(a, value=0.1 * n + 0.03 * i) for i, a in each for n in range(9)]
    yield figure("ridges", groups, curves=by_model)
    held = [
        mark(a, str(c), value=float(9 - c), x=float(i), text="in" if (i + c) % 2 else "")
        for c in range(1, 9) for i, a in each
    ]  # fmt: skip
    yield figure("sets", held, value_unit="number", x_unit="number")


def broken(plain: Figure) -> Iterator[Figure]:
    """The same with nothing, with nothing known, and with all alike."""
    from msgspec.structs import replace  # noqa: PLC0415

    yield replace(plain, marks=(), curves=(), spans=())
    unknown = [replace(m, value=NAN, low=NAN, high=NAN, x=NAN, n=0, text="") for m in plain.marks]
    yield replace(plain, marks=tuple(unknown), curves=())
    alike = [replace(m, value=0.5, low=0.5, high=0.5, x=1.0) for m in plain.marks]
    yield replace(plain, marks=tuple(alike))
    yield replace(plain, marks=plain.marks[:1], spans=())
    flat = [replace(m, value=0.0, low=0.0, high=0.0, x=0.0) for m in plain.marks]
    yield replace(plain, marks=tuple(flat))
