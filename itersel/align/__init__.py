"""Word alignment: eflomal, links, lexical tables."""
