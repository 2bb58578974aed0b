"""Rules on benchmarks."""
