"""Run the command line: ``python -m proofstone``."""

from __future__ import annotations

from proofstone.cli import main

if __name__ == "__main__":
    main()
