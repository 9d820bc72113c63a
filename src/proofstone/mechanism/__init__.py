"""Payment schemes as games: what a stated scheme rewards, and what a pilot identifies."""
