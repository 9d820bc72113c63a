"""Search documents of the workspace, Wikipedia and the web."""
