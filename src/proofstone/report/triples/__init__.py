"""What models volunteered, checked both ways: leaderboard, figures, tables and browsers."""
