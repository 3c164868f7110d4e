"""N-best lists: formats of other systems, compiled tables of lists, rescoring, sources of hypotheses."""
