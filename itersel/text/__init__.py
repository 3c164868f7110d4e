"""Text before it is data: bitexts, cleaning, tokenising, the decoder's input."""
