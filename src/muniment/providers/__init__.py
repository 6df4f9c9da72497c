"""Embedders and language models: the only room that imports their SDKs and runtimes."""
