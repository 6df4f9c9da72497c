# Generated from scoped/ by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped`, module by module."""
