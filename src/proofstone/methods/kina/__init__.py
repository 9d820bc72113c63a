"""KINA: questions with ten options, many of them combinations of statements, by discipline.

Section and table numbers in this folder are those of the paper (Jin et al. 2026).
"""
