"""Sources of plugins for tests."""

GOOD = """
    import numpy as np
    from rankbook.problems.certificate import Solution
    from rankbook.registry.solver import Solver

    class Zero(Solver):
        name = "zero"
        summary, tol = "Answers zero.", None
        def __init__(self, shift=0.0):
            self.shift = shift
        def solve(self, problem, lam):
            coef = self.shift * np.array([1.0, 0.0, -1.0])
            return Solution(problem, lam, coef=coef, solver="engine 7")
"""
