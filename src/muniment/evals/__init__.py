"""Fixed measurements of quality, run through the product itself."""
