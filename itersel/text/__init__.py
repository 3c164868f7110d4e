"""Text: bitexts, cleaning, tokenising, the decoder's input."""
