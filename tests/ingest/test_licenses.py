"""Which license texts make a document public."""

from __future__ import annotations

import pytest

from proofstone.records.knowledge import permits_publication

PUBLIC = (
    "CC-BY-4.0", "CC BY-SA 3.0", "CC0", "CC0-1.0", "cc-by-nc-nd-4.0",
    "Creative Commons Attribution-Share Alike 4.0",
    "https://creativecommons.org/licenses/by-sa/4.0/",
    "https://creativecommons.org/publicdomain/zero/1.0/",
    "Attribution-ShareAlike 4.0 International",
    "GFDL", "GNU Free Documentation License 1.3 or later", "GPL-2.0-or-later", "GPL-3.0-only",
    "LGPL v3", "GNU General Public License, version 2", "MIT", "MIT License", "BSD-3-Clause", "BSD",
    "Apache-2.0", "Apache License 2.0", "MPL-2.0", "Unlicense", "public domain",
    "Public Domain (US)",
    "ODbL 1.0", "Open Government Licence v3.0", "public", "public, by permission of the author",
    "知识共享 署名-相同方式共享 4.0", "知識共享署名", "采用CC BY-SA 4.0许可协议", "公有领域",
    "公开",
)  # fmt: skip
PRIVATE = (
    "", "  ", "internal", "Internal use", "proprietary", "LicenseRef-Proprietary", "Confidential",
    "all rights reserved", "© 2025 Acme. All rights reserved.", "company use only", "none",
    "no license",
    "MIT Press", "own", "unknown", "Acme EULA", "licensed", "public sector staff only",
    "non-public",
    "not CC BY", "internal until released under CC-BY-4.0", "private", "Unlicensed", "custom",
    "内部资料", "版权所有", "保留所有权利", "机密", "仅限公司内部使用", "不得转载", "未知",
    "商业许可",
)  # fmt: skip


@pytest.mark.parametrize("text", PUBLIC)
def test_an_open_license_permits_publication(text: str) -> None:
    assert permits_publication(text)
    assert permits_publication(f" {text.upper()} ")


@pytest.mark.parametrize("text", PRIVATE)
def test_any_other_text_does_not(text: str) -> None:
    assert not permits_publication(text)
    assert not permits_publication(text.upper())
