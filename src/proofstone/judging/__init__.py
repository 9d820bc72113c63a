"""Judge answers with models: questions, verdicts, and prompt-injection attacks."""
