"""What `make check` and `make docs` run: `python -m tools.NAME` from the repository's root."""
