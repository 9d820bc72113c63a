"""The care of a workspace: backup, purge, status and doctor."""
