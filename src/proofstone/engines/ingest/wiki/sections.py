"""Which sections of a wiki's page are no text of it: references, links, what to read next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofstone.engines.ingest.layout import Block

__all__ = ["without_apparatus"]

_APPARATUS = {
    "references", "notes", "notes and references", "external links", "see also", "further reading",
    "bibliography", "sources", "citations", "footnotes", "works cited", "gallery",
    "参考文献", "参考资料", "參考文獻", "參考資料", "外部链接", "外部連結",
    "参见", "參見", "參看", "注释", "註釋",
    "延伸阅读", "延伸閱讀", "脚注", "腳註", "参考来源", "相关条目",
}  # fmt: skip


def without_apparatus(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks without such sections, and without headings of which nothing is left."""
    left_out = 0
    waiting: list[Block] = []
    for block in blocks:
        if block.kind == "heading":
            if left_out and block.level > left_out:
                continue
            left_out = block.level if block.text.strip().casefold() in _APPARATUS else 0
            waiting = [above for above in waiting if above.level < block.level]
            waiting += [] if left_out else [block]
        elif not left_out:
            yield from waiting
            waiting = []
            yield block
