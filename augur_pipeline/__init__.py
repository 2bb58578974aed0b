"""Nightly pipeline: did the stated confidence of trading agents carry information?"""

__version__ = "0.1.0"
