"""Data sets, tables and blocks."""

from . import datasets

__all__ = ["datasets"]
