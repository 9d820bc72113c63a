"""The sections of a report, an analysis each."""
