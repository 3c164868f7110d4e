"""N-best lists: other systems' formats, compiled tables of lists, rescoring; where hypotheses come from."""
