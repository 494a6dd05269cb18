"""The logistic loss of pairs and losses of one's own: sums, certificates, and other packages."""

import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit, log1p
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import rankbook as rb
from rankbook.problems.ranksvm import as_loss
from rankbook.problems.smooth_losses import Logistic, SmoothPairLoss

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 4)), RNG.integers(0, 3, 40)
PREFS = rb.Preferences.from_scores(Y, np.arange(40) % 4)
LINEAR = dict(kernel="linear", loss="logistic")


class Rounded:
    """The hinge with a parabola of width 1 about its corner."""

    name = "rounded"

    def value(self, t):
        return np.where(t < -0.5, 0.0, np.where(t > 0.5, t, (t + 0.5) ** 2 / 2))

    def derivative(self, t):
        return np.clip(t + 0.5, 0.0, 1.0)

    def conjugate(self, a):
        return np.where((a >= 0) & (a <= 1), a**2 / 2 - a / 2, np.inf)


def summed(loss, prefs=PREFS):
    return as_loss(loss).summed(prefs)


@pytest.mark.parametrize("loss", ["logistic", Rounded()])
def test_the_slopes_and_the_curvature_are_derivatives(loss):
    whole, f = summed(loss), RNG.normal(size=40)
    found, v = whole.evaluate(f), RNG.normal(size=40)
    slope = approx_fprime(f, lambda f: whole.evaluate(f).loss, 1e-7)
    assert np.allclose(found.score_gradient, -slope, atol=1e-4)
    h = 1e-6
    ahead, back = (whole.evaluate(f + s * h * v).score_gradient for s in (1, -1))
    bent = whole.curvature(found.bands, v)
    assert np.allclose(bent, (back - ahead) / (2 * h), atol=1e-4)
    H = whole.curvature_matrix(found.bands)
    assert np.allclose(H @ v, bent) and np.allclose(H, H.T)
    both = whole.curvature_columns(found.bands, np.c_[v, 2 * v])
    assert np.allclose(both, np.c_[bent, 2 * bent])


@pytest.mark.parametrize("loss", ["logistic", Rounded()])
def test_the_margin_of_the_sums_is_the_loss_and_its_tangent(loss):
    f = RNG.normal(size=40)
    found = summed(loss).evaluate(f)
    assert np.isclose(found.margin, found.loss + f @ found.score_gradient, rtol=1e-12)


def as_differences(prefs, X):
    """The rows of both signs and their weights, for a classifier without an intercept."""
    Z = X[prefs.better] - X[prefs.worse]
    return np.r_[Z, -Z], np.repeat([1, 0], len(Z)), np.r_[prefs.weight, prefs.weight]


@pytest.mark.filterwarnings("ignore:the solver .* reached a relative gap")
@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_logistic_regression_of_differences(lam, weighted):
    prefs = PREFS.reweighted(RNG.uniform(0.1, 3, len(PREFS))) if weighted else PREFS
    Z, sign, weight = as_differences(prefs, X)
    theirs = LogisticRegression(
        C=2 / lam, fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=1000
    ).fit(Z, sign, weight / 4)
    problem = rb.RankSVMProblem(X, prefs, **LINEAR)
    ours = rb.solve(problem, lam, "newton", tol=1e-18)
    assert np.abs(ours.weights - theirs.coef_[0]).max() < 1e-8
    assert ours.certificate.relative_gap < 1e-9


def test_multipliers_are_judged_one_by_one():
    problem = rb.RankSVMProblem(X, PREFS, **LINEAR)
    best = rb.solve(problem, 1.0, tol=1e-13)
    w, f = best.weights, X @ best.weights
    slopes = expit(-PREFS.matvec(f))
    proof = problem.certificate(1.0, dual=slopes, weights=w)
    assert proof.relative_gap < 1e-10 and proof.is_optimal(1e-9)
    assert proof.complementarity_violation < 1e-10
    for wrong, box in ((slopes + (np.arange(len(PREFS)) == 3) * 1.5, 1.5), (-slopes, None)):
        proof = problem.certificate(1.0, dual=wrong, weights=w)
        assert proof.box_violation > 0.1  # of the multipliers; the gap is of f alone
        assert proof.dual <= best.certificate.primal
        assert box is None or np.isclose(proof.box_violation, box)
    worse = problem.certificate(1.0, dual=np.full(len(PREFS), 0.5), weights=w)
    t = -PREFS.matvec(f)
    loss_above_tangent = np.logaddexp(0, t) - np.log(2) - t / 2
    assert worse.box_violation == 0
    assert worse.complementarity_violation == pytest.approx(loss_above_tangent.max(), rel=1e-9)
    assert worse.dual < best.certificate.dual


@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
def test_multipliers_that_are_nan_prove_no_optimum(loss):
    problem = rb.RankSVMProblem(X, PREFS, "linear", loss=loss)
    w, dual = rb.solve(problem, 1.0).weights, np.full(len(PREFS), np.nan)
    with np.errstate(invalid="ignore"):
        assert not problem.certificate(1.0, weights=w, dual=dual).is_optimal()


def test_its_estimator_works_end_to_end():
    model = rb.RankSVM(kernel="linear", loss="logistic", solver=("newton", dict(tol=1e-10)))
    model.fit(X, Y, qid=np.arange(40) % 4)
    assert model.certificate_.relative_gap < 1e-10 and model.solver_.startswith("newton")
    assert model.lam_ > 0
    ten = rb.RankSVM(kernel="linear", loss="logistic", solver=("newton", dict(tol=1e-10)))
    ten.fit(X, Y, qid=np.arange(40) % 4, sample_weight=np.full(40, np.sqrt(10)))
    assert np.allclose(ten.coef_, model.coef_, rtol=1e-6)  # "scale" follows the weights


def test_signs_hold_with_a_proof():
    free = rb.RankSVM(1.0, "linear", loss="logistic").fit(X, PREFS)
    signs = -np.sign(free.coef_) * [1, 1, 0, -1]
    model = rb.RankSVM(1.0, "linear", loss="logistic", signs=signs).fit(X, PREFS)
    assert (model.coef_ * signs >= 0).all() and model.certificate_.relative_gap < 1e-6
    assert model.certificate_.primal > free.certificate_.primal


def test_its_lam_max_is_infinite_and_its_path_certified():
    problem = rb.RankSVMProblem(X, PREFS, **LINEAR)
    assert problem.lam_max == np.inf
    path = rb.solve_path(problem, 0.1)
    for lam in (0.1, 1.3, 50.0, 2 * path.domain[1] if np.isfinite(path.domain[1]) else 1e4):
        assert path.solution(lam).certificate.relative_gap <= 1e-3


def test_what_it_does_not_take_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="prefs has margins of its own and loss is 'logistic'"):
        rb.RankSVMProblem(X, PREFS.reweighted(margin=np.full(len(PREFS), 2.0)), **LINEAR)
    ones = PREFS.reweighted(margin=np.ones(len(PREFS)))
    assert rb.RankSVMProblem(X, ones, **LINEAR).n_preferences == len(PREFS)
    problem = rb.RankSVMProblem(X, PREFS, **LINEAR)
    with pytest.raises(ValueError, match="not logistic, which rankbook's own solvers? newton"):
        rb.solve(problem, 1.0, solver="path")
    with pytest.raises(ValueError, match="loss is 'logit'.*did you mean 'logistic'"):
        rb.RankSVM(loss="logit").fit(X, Y)


def test_an_own_loss_is_solved_and_certified():
    model = rb.RankSVM(0.5, "linear", loss=Rounded()).fit(X, PREFS)
    assert model.certificate_.relative_gap < 1e-6 and model.solver_.startswith("newton")
    margin = RNG.uniform(0.5, 2, len(PREFS))
    problem = rb.RankSVMProblem(X, PREFS.reweighted(margin=margin), "linear", loss=Rounded())
    found = rb.solve(problem, 0.5, tol=1e-12)
    t = margin - PREFS.matvec(X @ found.weights)
    primal = 0.25 * found.weights @ found.weights + Rounded().value(t).sum()
    assert np.isclose(found.certificate.primal, primal) and found.certificate.is_optimal(1e-10)


def test_an_own_class_of_problems_is_certified_by_its_loss():
    class Own(rb.RankSVMProblem):
        def __init__(self, X, prefs):
            super().__init__(X, prefs, kernel="linear", loss=Rounded())

    class Ignored(rb.RankSVMProblem):
        loss = Rounded()

    usual = rb.RankSVMProblem(X, PREFS, "linear", loss=Rounded())
    assert rb.solve(Own(X, PREFS), 0.5).certificate == rb.solve(usual, 0.5).certificate
    with pytest.raises(
        TypeError, match="Ignored, which redefines loss of RankSVMProblem.*own loss"
    ):
        rb.solve(Ignored(X, PREFS, "linear"), 0.5)


def test_clones_and_pickles_keep_an_own_loss():
    model = rb.RankSVM(0.5, "linear", loss=Rounded()).fit(X, PREFS)
    for other in (clone(model).fit(X, PREFS), pickle.loads(pickle.dumps(model))):
        assert type(other.get_params()["loss"]) is Rounded
        assert other.predict(X).tolist() == model.predict(X).tolist()
    widths = GridSearchCV(model, dict(loss=["hinge", "logistic", Rounded()]), cv=3)
    assert len(widths.fit(X, Y).cv_results_["params"]) == 3


def test_a_file_holds_the_logistic_loss_and_refuses_an_own_one(tmp_path):
    for loss in ("logistic", Rounded()):
        model = rb.RankSVM(0.5, "linear", loss=loss).fit(X, PREFS)
        path = rb.solve_path(model.solution_.problem, 0.1)
        files = tmp_path / "model.zip", tmp_path / "path.zip"
        if loss == "logistic":
            model.save(files[0]), path.save(files[1])
            assert rb.load(files[0]).predict(X).tolist() == model.predict(X).tolist()
            again = rb.load(files[1])
            assert again.solution(0.7).certificate == path.solution(0.7).certificate
            continue
        with pytest.raises(ValueError, match="loss is a Rounded, which a file cannot store"):
            model.save(files[0])
        with pytest.raises(ValueError, match="the loss 'rounded' of your own, which a file"):
            path.save(files[1])
        saved = model.set_params(loss="hinge").save(files[0])
        assert saved is None and rb.load(files[0]).predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("loss", ["logistic", Rounded()])
@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e90])
def test_extreme_weights_are_proven(loss, scale):
    prefs = PREFS.reweighted(np.full(len(PREFS), scale))
    problem = rb.RankSVMProblem(X, prefs, "linear", loss=loss)
    usual = rb.RankSVMProblem(X, PREFS, "linear", loss=loss)
    found, expected = rb.solve(problem, 0.5 * scale), rb.solve(usual, 0.5)
    assert np.allclose(found.weights, expected.weights, atol=1e-3)
    assert found.certificate.relative_gap <= 1e-6


@pytest.mark.parametrize("loss", ["logistic", Rounded()])
def test_nothing_to_learn_is_the_zero_function(loss):
    twins = rb.Preferences([0, 1], [1, 0], 2)
    answer = rb.solve(rb.RankSVMProblem([[1.0], [3.0]], twins, "linear", loss=loss), 1.0)
    assert answer.weights.tolist() == [0.0] and answer.certificate.relative_gap < 1e-12
    alike = rb.Preferences([0], [1], 2)
    answer = rb.solve(rb.RankSVMProblem([[2.0], [2.0]], alike, "linear", loss=loss), 1.0)
    assert answer.weights.tolist() == [0.0] and answer.certificate.relative_gap < 1e-12


def test_what_is_no_loss_is_refused():
    class Nameless:
        value = derivative = conjugate = staticmethod(log1p)

    class Hinge(Rounded):
        name = "hinge"

    class Half(Rounded):
        conjugate = None

    class Nowhere(Rounded):
        margin = float("nan")

    for loss, words in (
        (Nameless(), "loss has the name None"),
        (Hinge(), "'hinge', which is taken"),
        (Half(), "loss 'rounded' has no method conjugate"),
        (Nowhere(), "loss 'rounded' has the margin nan"),
        (3, "loss is 3"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            rb.RankSVMProblem(X, PREFS, "linear", loss=loss)
    assert as_loss(Logistic()).name == "logistic" and as_loss(as_loss(Rounded())).name == "rounded"
    assert isinstance(as_loss(Rounded()), SmoothPairLoss)


@pytest.mark.parametrize("method", ["value", "derivative", "second_derivative", "conjugate"])
@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda x: np.full_like(x, np.nan), "that is nan at"),
        (lambda x: np.full_like(x, np.inf), "that is inf at"),
        (lambda x: 1.0, "that is a float for an array"),
        (lambda x: x[1:], "that is float64 of shape .* for an array of shape"),
        (lambda x: x[:, None], "that is float64 of shape .* for an array of shape"),
        (lambda x: np.ma.masked_array(x, x == x), "that is a MaskedArray"),
        (lambda x: x + 0j, "that is complex128"),
        (lambda x: x.tolist(), "that is a list for an array of shape"),
    ],
)
def test_a_method_that_returns_no_numbers_is_named(method, wrong, words):
    loss = type("Broken", (Rounded,), {method: lambda self, x: wrong(x)})()
    problem = rb.RankSVMProblem(X, PREFS, "linear", loss=loss)
    for call in (lambda: rb.solve(problem, 1.0), lambda: rb.solve_path(problem, solver="newton")):
        with pytest.raises(ValueError, match=f"'rounded' has a {method} {words}"):
            call()


def test_a_loss_that_is_nan_elsewhere_ends_a_path():
    class Fading(Rounded):
        def value(self, t):
            return np.where(t == 1, super().value(t), np.nan)

    problem = rb.RankSVMProblem(X, PREFS, "linear", loss=Fading())
    with pytest.raises(ArithmeticError):
        rb.solve_path(problem, solver="newton")


def test_blocks_give_the_same_answer():
    qid = np.arange(40) % 4
    rows = [np.flatnonzero(qid < 2), np.flatnonzero(qid >= 2)]
    blocks = rb.Blocks([rb.Block(X[r], Y[r], qid[r]) for r in rows])
    apart = rb.RankSVM(0.5, "linear", loss="logistic").fit(blocks)
    whole = rb.RankSVM(0.5, "linear", loss="logistic").fit(X, Y, qid=qid)
    assert np.allclose(apart.coef_, whole.coef_, atol=1e-5)
    assert apart.certificate_.relative_gap < 1e-6
