"""MediaWiki: dumps and pages of wikis as blocks."""
