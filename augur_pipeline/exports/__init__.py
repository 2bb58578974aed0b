"""What leaves the pipeline: passports, table files, and the published database."""
