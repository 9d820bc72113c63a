"""LaTeX source: what a document says, as blocks, without a run of TeX."""
