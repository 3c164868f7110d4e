"""Rules: cdec's text form, extraction from an indexed bitext, folders of grammars."""
