"""A training run: configuration, directory, driver, devtest."""
