"""Language models: interpolated modified Kneser-Ney estimation (Chen & Goodman 1998), ARPA, KenLM binaries, scores.

Sentences flow in, as lines or token lists; estimate.py makes a `Model` of log10 probabilities and backoffs, which
`arpa.write_arpa` turns into a file. The conventions are those of KenLM's lmplz (Heafield et al. 2013): corpus.py
numbers the words, counts.py finds the n-grams, estimate.py smooths, arpa.py writes. model.py opens a model to decode
with. This module imports nothing: a decoder needs no estimation.
"""
