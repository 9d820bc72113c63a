"""Tools of `make check` and `make reference`: `python -m tools.NAME` from the repository's root."""
