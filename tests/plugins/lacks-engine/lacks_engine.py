"""A plugin whose engine is not installed."""

import rankbook as rb


class Lacking(rb.Solver):
    name, requires = "lacking", ("an_engine_that_nobody_has",)

    def solve(self, problem, lam):
        import an_engine_that_nobody_has

        return an_engine_that_nobody_has.solve(problem, lam)
