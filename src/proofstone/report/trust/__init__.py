"""How far a report can be trusted: what is known of its making, and what is not."""

from proofstone.report.trust.lines import trust_lines
from proofstone.report.trust.trust import TrustLine

__all__ = ["TrustLine", "trust_lines"]
