"""What one lambda of a linear ranking SVM costs, and how far from optimal it is.

The objective is `lam/2 |w|^2 + sum of max(0, 1 - (w'x_k - w'x_l))` over all preferences, or the sum
of the squares; ours takes the solver that "auto" chooses, and "newton" beside "interior". Every
answer is judged alike: its "excess gap" is how far its objective is above a lower bound that is
proven by ours, relative to it.

SVM^rank (`--svm-rank PATH` of its svm_rank_learn) minimizes `|w|^2/2 + C/q` times the sum for q
queries, so C = q / lam; liblinear-ranksvm (`--liblinear PATH` of its train, `-s 8`) minimizes
`|w|^2/2 + C` times the sum of squares, so C = 1 / lam. Both read an SVMlight file, which ours does
not. The seconds of a run of SVM^rank with a tolerance that ends it at once are subtracted, and
those of a run of liblinear-ranksvm that reads the file and then refuses C = 0: its seconds have
what it does before the first step, as ours have the making of the problem, and the certificate.

scikit-learn's LinearSVC and SGDClassifier get the differences `x_k - x_l` of all preferences, half
of them turned round, as two classes: C = 1 / lam, and alpha = lam / m for m preferences, whose mean
is taken. Tolerances are each program's own.
"""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

import rankbook as rb

from .common import compare, gap, linear_graded

SIZES = {"tiny": (200,), "usual": (2000, 50_000), "full": (2000, 100_000)}
DIFFERENCES = {  # items, and those of a query
    "tiny": ((40, 20),),
    "usual": ((1000, 20), (2000, 100)),
    "full": ((1000, 20), (2000, 100), (8000, 100)),
}
SHARE = 1e-3  # lambda for each preference
FEW = {"tiny": (100, 20), "usual": (3000, 500), "full": (3000, 500)}  # items, and features
LAMS = {"tiny": (1.0,), "usual": (100.0, 1.0), "full": (1000.0, 100.0, 10.0, 1.0)}


def problem_of(X, y, qid, loss="hinge"):
    """The linear ranking SVM on all preferences."""
    prefs = rb.Preferences.from_scores(y, qid)
    return rb.RankSVMProblem(X, prefs, kernel="linear", loss=loss)


def excess(problem, lam):
    """The measure of weights: how far above a lower bound their objective is."""
    bound = rb.solve(problem, lam, solver="newton", tol=1e-7).certificate.dual

    def relative(weights):
        primal = problem.certificate(lam, weights=weights).primal
        return max(0.0, primal - bound) / primal

    return {"excess gap": relative}


def solved(X, y, qid, lam, loss="hinge"):
    """Weights by the solver that "auto" takes; its certificate is computed, too."""
    answer = rb.solve(problem_of(X, y, qid, loss), lam, solver="auto")
    assert answer.certificate.relative_gap < 1e-5
    return answer.weights


# Programs that read a file


def weights_of_svm_rank(text, d):
    """Weights from a model of SVM^rank: a line for each support vector, after the threshold."""
    lines, weights = text.splitlines(), np.zeros(d)
    start = next(i for i, line in enumerate(lines) if "threshold b" in line)
    for line in lines[start + 1 :]:
        alpha, *entries = line.partition("#")[0].split()
        for feature, value in (entry.split(":") for entry in entries):
            weights[int(feature) - 1] += float(alpha) * float(value)
    return weights


def weights_of_liblinear(text, d):
    """Weights from a model of liblinear: one a line, after the line `w`."""
    return np.array(text.partition("\nw\n")[2].split(), dtype=float)[:d]


def trained(command, file, read, d):
    """Weights that a program writes to a model beside the file."""
    model = f"{file}.model"
    run = subprocess.run([*command, str(file), model], check=False, capture_output=True)
    if b"C <= 0" in run.stderr:  # it has read the file, and ends
        return None
    run.check_returncode()
    return read(Path(model).read_text(encoding="utf-8"), d)


def program(path, name, problem, lam, file):
    """A run of a program, and one that reads the file and stops; or that its path is not given."""
    if path is None:
        return f"not given: --{name.replace('_', '-')} PATH"
    C, d = 1 / lam, problem.X.shape[1]
    if name == "svm_rank":
        command, read = [path, "-c", f"{C * problem.prefs.n_queries:.17g}"], weights_of_svm_rank
    else:
        command, read = [path, "-s", "8", "-c", f"{C:.17g}"], weights_of_liblinear
    run = lambda *options: trained([*command, *options], file, read, d)
    return run, lambda: run(*(("-e", "1e9") if name == "svm_rank" else ("-c", "0")))


def beside_programs(n, peers):
    """The hinge beside SVM^rank, its square beside liblinear-ranksvm; more rounds of few items."""
    X, y, qid = linear_graded(n)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "train.txt"
        if any(peers.values()):
            dump_svmlight_file(X, y, str(file), query_id=qid, zero_based=False)
        for loss, peer, name in (
            ("hinge", "SVM^rank", "svm_rank"),
            ("squared", "liblinear-ranksvm", "liblinear"),
        ):
            problem = problem_of(X, y, qid, loss)
            lam = SHARE * len(problem.prefs)
            there = {peer: program(peers.get(name), name, problem, lam, file)}
            size = f"{len(problem.prefs):,} preferences, lambda = {lam:g}"
            what = f"one lambda, linear, {loss} loss, {size}"
            ours = lambda: solved(X, y, qid, lam, loss)  # noqa: B023
            rounds = max(3, 30_000 // n)
            yield from compare(what, n, ours, there, excess(problem, lam), rounds)


# scikit-learn


def differences(X, prefs):
    """The differences of all preferences as two classes: half of them are turned round."""
    turn = np.where(np.arange(len(prefs)) % 2, 1.0, -1.0)
    return (X[prefs.better] - X[prefs.worse]) * turn[:, None], turn


def beside_scikit_learn(n, size):
    """Classifiers of differences, which are made on the way."""
    X, y, qid = linear_graded(n, size=size)
    problem = problem_of(X, y, qid)
    prefs, m = problem.prefs, len(problem.prefs)
    lam = SHARE * m

    def fitted(model):
        return model.fit(*differences(X, prefs)).coef_.ravel()

    options = dict(loss="hinge", fit_intercept=False, random_state=0)
    classifiers = {
        "LinearSVC": lambda: fitted(LinearSVC(C=1 / lam, **options)),
        "SGDClassifier": lambda: fitted(SGDClassifier(alpha=lam / m, **options)),
    }
    what = f"one lambda, linear, hinge loss, {m:,} preferences, lambda = {lam:g}"
    return compare(what, n, lambda: solved(X, y, qid, lam), classifiers, excess(problem, lam))


# Few items for their features


def beside_interior(n, d, lam):
    """Newton's method beside the interior point, in queries of 20 items."""
    X, y, qid = linear_graded(n, d, size=20)
    solved_by = lambda name: lambda: rb.solve(problem_of(X, y, qid), lam, solver=name)
    what = f"one lambda, linear, hinge loss, newton, {d} features, lambda = {lam:g}"
    return compare(what, n, solved_by("newton"), {"interior": solved_by("interior")}, {"gap": gap})


def rows(scale, peers):
    """All rows."""
    for n in SIZES[scale]:
        yield from beside_programs(n, peers)
    for n, size in DIFFERENCES[scale]:
        yield from beside_scikit_learn(n, size)
    for lam in LAMS[scale]:
        yield from beside_interior(*FEW[scale], lam)
