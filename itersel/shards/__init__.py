"""Shards: the compiled unit of work, who goes into which, and folders of them."""
