"""A bilingual grammar of German and English, written by hand, and its lexicon: what data/demo is made with."""
