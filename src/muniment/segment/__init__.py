"""A scope's active records packed for exact search in memory. Pure: rows in, scores out."""
