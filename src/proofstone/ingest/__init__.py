"""Import documents into a workspace as sources, pages and passages."""
