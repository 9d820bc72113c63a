"""Reviews by people: sheets, answers, agreement and decisions."""
