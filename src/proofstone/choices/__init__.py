"""Extract the chosen option, or verdicts, from a response."""
