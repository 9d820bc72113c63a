"""Review items: spreadsheets, answers, inter-annotator agreement and decisions."""
