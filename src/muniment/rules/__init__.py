"""Decisions: pure functions over values, without input or output."""
