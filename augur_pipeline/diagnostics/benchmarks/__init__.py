"""What locked benchmarks say of the same forecasts, and the skill beside them."""
