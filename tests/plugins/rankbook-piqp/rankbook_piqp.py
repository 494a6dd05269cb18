"""The ranking SVM by PIQP, an interior-point method for quadratic programs."""

import numpy as np
from scipy import sparse

import rankbook as rb


class PIQP(rb.Solver):
    """The dual of the ranking SVM, in multipliers and one variable for each item.

    Minimise lam b'Kb / 2 - delta'a over 0 <= a <= c with P'a = lam b: then b are the coefficients.

    Parameters
    ----------
    max_iter : int, default 500
    """

    name = "piqp"
    problems = ("RankSVMProblem",)
    requires = ("piqp",)
    tol = 1e-6
    largest = {"items": 3000, "preferences": 300_000}
    signed_margins = True
    summary = "The dual quadratic program of the ranking SVM by PIQP."
    reference = "Schwan, Jiang, Kuhn and Jones (2023), PIQP: a proximal interior-point solver"

    def __init__(self, max_iter=500):
        self.max_iter = max_iter

    def cost(self, problem, lam):
        """Seconds, from a handful of runs."""
        n, m = problem.n_items, problem.n_preferences
        return 0.05 + 1e-4 * m + 4e-8 * n**3

    def solve(self, problem, lam):
        """The solution at one lam > 0."""
        import piqp

        prefs, n = problem.prefs, problem.n_items
        P = prefs.incidence()  # (m, n), a row for each preference
        m = P.shape[0]
        c = prefs.weight
        scale = max(float(c.max(initial=0.0)), lam)  # multipliers in units of the largest weight
        quadratic = sparse.block_diag(
            [sparse.csc_matrix((m, m)), lam / scale * problem.gram], "csc"
        )
        equations = sparse.hstack([P.T, -lam / scale * sparse.identity(n)], "csc")
        engine = piqp.SparseSolver()
        engine.settings.eps_abs = engine.settings.eps_rel = 1e-10
        engine.settings.eps_duality_gap_abs = engine.settings.eps_duality_gap_rel = 1e-10
        engine.settings.eps_dual_inf = 1e-100  # the box is bounded, so nothing is unbounded
        engine.settings.max_iter = self.max_iter
        engine.setup(
            quadratic,
            np.r_[-prefs.margin, np.zeros(n)],
            equations,
            np.zeros(n),
            x_l=np.r_[np.zeros(m), np.full(n, -np.inf)],
            x_u=np.r_[c / scale, np.full(n, np.inf)],
        )
        status = engine.solve()
        dual = np.clip(engine.result.x[:m] * scale, 0.0, c)
        info = dict(status=str(status), iterations=int(engine.result.info.iter))
        label = f"PIQP {piqp.__version__}" if hasattr(piqp, "__version__") else "PIQP"
        return rb.Solution(
            problem, lam, coef=prefs.rmatvec(dual) / lam, dual=dual, solver=label, info=info
        )
