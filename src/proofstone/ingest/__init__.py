"""Taking documents into a workspace: sources, pages and passages."""
