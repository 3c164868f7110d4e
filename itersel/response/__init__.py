"""Responses: what a task says of a translation, and GeoQuery, a task whose response is the answer to a question."""
