"""ELAIPBench: questions over whole papers, one or several options correct, scored strictly.

Section and table numbers in this folder are those of the paper (Dai et al. 2025).
"""
