"""Benchmarks: `python -m augur_pipeline_tests.benchmarks`. Ratios to peers in the same run."""
