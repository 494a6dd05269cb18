"""Measurements beside other packages: `python -m benchmarks`. Not part of the package rankbook."""
