"""Judge screened questions: features, failures of a panel, and a vote by three judges."""
