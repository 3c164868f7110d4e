"""What every room needs: errors, files, configuration, events, progress, workers, tables, the version."""
