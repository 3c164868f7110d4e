"""Decoding: sentence and weights in, translations, k-best lists and derivations out."""
