"""Translation quality: sentence metrics for training, corpus metrics for evaluation."""
