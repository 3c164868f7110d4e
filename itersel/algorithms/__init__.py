"""Training algorithms, one module per family."""
