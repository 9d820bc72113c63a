"""``python -m proofstone`` is the command."""

from proofstone.cli import main

if __name__ == "__main__":
    main()
