"""Choose the questions that represent a discipline, by support centrality (appendix B)."""
