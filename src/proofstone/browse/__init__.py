"""List, show, trace and export what a workspace holds."""
