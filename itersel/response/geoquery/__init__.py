"""The GeoQuery task: questions about U.S. geography, their FunQL forms, and the database that answers them."""
