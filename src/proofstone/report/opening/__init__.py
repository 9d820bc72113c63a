"""The half page that a report opens with, for someone without statistics."""

from proofstone.report.opening.make import make_opening
from proofstone.report.opening.opening import Opening, OpeningPart

__all__ = ["Opening", "OpeningPart", "make_opening"]
