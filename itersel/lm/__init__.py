"""Language models: interpolated modified Kneser-Ney estimation (Chen & Goodman 1998) written as ARPA.

Sentences flow in, as lines or token lists; a `Model` of log10 probabilities and backoffs comes out, which
`write_arpa` turns into the file that the decoding kernel reads. The conventions are those of KenLM's lmplz
(Heafield et al. 2013): corpus.py numbers the words, counts.py finds the n-grams, estimate.py smooths, arpa.py
writes.
"""

from __future__ import annotations

from itersel.lm.arpa import write_arpa
from itersel.lm.corpus import Fold, read_vocabulary
from itersel.lm.estimate import Model, Settings, Table, estimate

__all__ = ["Fold", "Model", "Settings", "Table", "estimate", "read_vocabulary", "write_arpa"]
