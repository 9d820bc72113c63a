"""Taxonomies: read from tables and checked whole, two of them carried, and places found in them."""

from proofstone.engines.ingest.taxonomy.carried_ones import carried_names, carried_taxonomy
from proofstone.engines.ingest.taxonomy.locating import Located, locate
from proofstone.engines.ingest.taxonomy.reading import find_taxonomy, read_taxonomy
from proofstone.engines.ingest.taxonomy.writing import taxonomy_rows

__all__ = [
    "Located",
    "carried_names",
    "carried_taxonomy",
    "find_taxonomy",
    "locate",
    "read_taxonomy",
    "taxonomy_rows",
]
