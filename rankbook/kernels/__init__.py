"""Kernels, and their approximations."""




from .objects import joint
from .kernel import Kernel, centred_gram, cross_matrix, gram_matrix, reduced_matrix
from .objects import over

__all__ = [
    "Kernel",
    "centred_gram",
    "cross_matrix",
    "gram_matrix",
    "joint",
    "over",
    "reduced_matrix",
]
