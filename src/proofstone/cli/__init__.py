"""The command line: parse, call a stage, show. Results on stdout, talk on stderr."""

from proofstone.cli.root import cli, main

__all__ = ["cli", "main"]
