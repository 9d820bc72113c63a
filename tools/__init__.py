"""Tools of `make check` and `make docs`: `python -m tools.NAME` from the repository's root."""
