"""Measurements of speed that print ratios against a floor of the same run."""
