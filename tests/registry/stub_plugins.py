"""Sources of plugins for tests."""

GOOD = """
    import numpy as np
    from rankbook.problems.solution import Solution
    from rankbook.registry.declaration import Solver

    class Zero(Solver):
        name = "zero"
        summary = "Answers zero."
        def __init__(self, shift=0.0):
            self.shift = shift
        def solve(self, problem, lam):
            coef = self.shift * np.array([1.0, 0.0, -1.0])
            return Solution(problem, lam, coef=coef, solver="engine 7")
"""

# what a stranger may do, beside GOOD; {} is where it does it
EXIT = GOOD + "    import sys\n    Zero.{} = lambda *_, **__: sys.exit('no licence')\n"
HANGS = (
    GOOD
    + "    import time\n    Zero.cost = lambda *_: 1.0\n    Zero.{} = lambda *_: time.sleep(60)\n"
)
SLOW_IMPORT = "import time\ntime.sleep({})\n"
