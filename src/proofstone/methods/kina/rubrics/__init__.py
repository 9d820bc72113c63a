"""Review by people: marks on six rubrics, and a bar (section 4.1)."""
