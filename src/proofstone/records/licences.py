"""Which license texts permit publication: what decides whether a document counts as public."""

from __future__ import annotations

import re

# Words that no license for the public has; they decide, whatever else the text names.
_DENIED = re.compile(
    r"\b(?:internal|proprietary|confidential|secret|private|restricted|non-?public|not|unpublished"
    r"|rights? reserved|company|unlicensed|no licen[cs]e)\b"
    r"|内部|机密|保密|秘密|专有|私有|不公开|非公开|未公开|不得|禁止|未授权|未经授权|保留所有权利|保留一切权利"
    r"|版权所有|版權所有|仅限|僅限|內部|機密|保密",
    re.IGNORECASE | re.ASCII,
)


# Names that mean a license wherever they stand in a text or an address.
_NAMED = re.compile(
    r"\bcc[- ]?0\b|\bcc[- ]?pdm\b|\bcc[- ]?by\b|\bcreative ?commons\b"
    r"|\battribution[- ](?:share ?-?alike|non-?commercial|no-?deriv)"
    r"|\b[al]?gpl|\bgfdl\b|\bgnu (?:(?:lesser|affero|library) )?(?:general public|free doc)"
    r"|\bpublic[- ]domain\b|\bapache[- ](?:2|licen|software)|\bbsd[- ](?:\d|licen|style)"
    r"|\b[0-4]-clause bsd\b|\bmit[- ](?:licen|0\b)|\bmozilla public\b|\bmpl[- ]?\d|\beupl\b"
    r"|\bisc licen|\bartistic[- ](?:\d|licen)|\bunlicense\b|\bfree art licen|\bodbl\b|\bodc-by\b"
    r"|\bpddl\b|\bopen (?:government|data|database|publication) licen|\bogl[- ](?:uk|\d|v)"
    r"|\bopen license\b|\betalab\b|\bdl-de[-/]|\bpython-2\.0\b|\bpsf licen"
    r"|知识共享|知識共享|創用|公有领域|公有領域|公共领域|公共領域|自由文档许可|自由文件許可|开放政府",
    re.IGNORECASE | re.ASCII,
)


# Names that mean a license only where nothing else is said, and what a person says instead of one.
_WHOLE = re.compile(
    r"(?:mit|x11|expat|isc|zlib|bsd|apache|gpl|mpl|wtfpl|pd|public|公开|公開)"
    r"(?:$|[\s]*[.,;:(（，：；。].*)",
    re.IGNORECASE | re.DOTALL,
)


def permits_publication(licence: str) -> bool:
    """Whether a stated license is known to let anybody publish the document: open licenses by
    their usual names, in English and Chinese, and texts that begin with "public". An empty text,
    one that is not known, and one that also says otherwise ("internal") do not."""
    text = " ".join(licence.split())
    if not text or _DENIED.search(text):
        return False
    return _NAMED.search(text) is not None or _WHOLE.fullmatch(text) is not None
