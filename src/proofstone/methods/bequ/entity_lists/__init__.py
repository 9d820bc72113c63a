"""Lists of entities: from the pages of a wiki, or from lists made elsewhere."""
