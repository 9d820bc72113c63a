"""Chinese SimpleQA (He et al., 2024): short questions with one answer, graded in three labels.

Read in this order: payloads, questions, ask, graded_files, sameness, score. README.md maps the
paper to the modules.
"""
