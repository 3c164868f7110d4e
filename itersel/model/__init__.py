"""The linear model: feature templates, weight files, vectors by feature id, names."""
