"""Synthetic homes: agents of known character, and every trap of the contract."""

from augur_pipeline.sample.generator import SampleReport, SampleSize, write_sample

__all__ = ["SampleReport", "SampleSize", "write_sample"]
