"""Map-reduce without an engine: jobs, work items, records, side files."""
