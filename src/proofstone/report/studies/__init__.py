"""Studies: one question about results each, answered by a sentence, a table and a figure's data.

A study is one file here: a pure function from parts (forms with the scores on them) to a ``Study``.
"""

from proofstone.report.studies.catalogue import STUDIES, perform_study
from proofstone.report.studies.drawn import study_figures
from proofstone.report.studies.parts import HowAsked, Part, ReplyLengths
from proofstone.report.studies.study import Point, Study, StudyTable
from proofstone.report.studies.text import figure_rows, render_study

__all__ = [
    "STUDIES",
    "HowAsked",
    "Part",
    "Point",
    "ReplyLengths",
    "Study",
    "StudyTable",
    "figure_rows",
    "perform_study",
    "render_study",
    "study_figures",
]
