"""Results: leaderboards, reports, comparisons, gates and audits."""
