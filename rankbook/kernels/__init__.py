"""Kernels and their approximations."""

from .kernel import Kernel
from .objects import joint, over

__all__ = ["Kernel", "joint", "over"]
