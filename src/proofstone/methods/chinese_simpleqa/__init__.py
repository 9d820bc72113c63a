"""Chinese SimpleQA (He et al., 2024): short questions with one answer, graded in three labels.

Read in this order: payloads, question_rows, ask, reading, sameness, grading, score, measures;
README.md says what of the paper is where.
"""
