"""Reading the chosen option, or the verdicts, out of a reply."""
