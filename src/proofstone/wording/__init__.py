"""All texts for readers, in English and in Chinese: what code says, and the catalogue of it."""
