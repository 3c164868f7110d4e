"""Map-reduce without an engine: jobs, work items, records, side files, and what a worker does with them."""
