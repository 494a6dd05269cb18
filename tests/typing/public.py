"""The whole public interface in use: for a type checker to read, not to run."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.kernels.basis import choose_basis
from rankbook.kernels.nystroem import NystroemMap
from rankbook.problems.label_ranking import LabelRankRLSProblem, LabelRankSVMProblem
from rankbook.problems.rankrls_statistics import merge_statistics
from rankbook.problems.rayleigh import auc_bound
from rankbook.problems.svm import MulticlassSVMProblem

X: np.ndarray = np.zeros((6, 2))
rows: list[list[float]] = X.tolist()
sparse = csr_array(X)
y, qid, weight = np.arange(6) % 2, [0, 0, 0, 1, 1, 1], np.ones(6)
version: str = rb.__version__
page: rb.Report = rb.report({"a": y}, X, y, qid, names=["a"] * 6, metric="ndcg@5", title="a")
page.save(Path("page.html"))
shown: str = page.html + page.title

# Preferences

prefs = rb.Preferences([0, 1], [2, 3], n_items=6, weight=[1, 2])
sided = rb.Preferences([0, 1], [2, 3], n_items=4, pair_features=[1.0, -1.0])
extended, between = rb.extend_items([[0.0], [1.0], [2.0], [3.0]], sided)
prefs = rb.Preferences.from_scores(y, qid, graph="star")
prefs = rb.Preferences.from_scores(y, qid, query_weight="equal", level_weight={(1, 0): 2.0})
prefs = rb.Preferences.from_scores(y, qid, query_weight=[1, 2]).query_weighted([1.0, 2.0])
prefs = rb.Preferences.from_rankings([[0, 1], [2, 3]], n_items=6)
table = {"winner": ["a", "b"], "loser": ["b", "c"], "votes": [1, 2], "drawn": [False, True]}
prefs = rb.Preferences.from_pairs(table, weight="votes", tie="drawn", ties="half")
prefs = rb.Preferences.from_pairs([("a", "b")], margin=[2.0], items=["a", "b"]).merged()
prefs = rb.Preferences.from_rankings([["a", ["b", "c"]], ["c", "a"]], items=["a", "b", "c"])
orders = rb.Orders.from_rankings([["a", ["b", "c"]], ["c", "a"]], top=1, unranked="last")
orders = rb.Orders.from_survival([1.0, 2.0], [True, False], ties="efron")[[0, 1]].of_orders([0])
orders = rb.Orders.from_survival([1.0, 2.0], [1, 0], entry=[0.0, 1.0])
print(orders.entry, orders.part, orders.count_at_risk())
hazard = rb.BaselineHazard(orders, [0.5, 1.0])
print(hazard.survival([0.0], 3.0) + hazard.cumulative_hazard([0.0]), hazard.times.max())
print(
    orders.pairs(),
    orders.counted_pairs()[1].size,
    rb.Orders.from_preferences(prefs).n_orders,
    len(orders),
    orders.item.size,
)
prefs = rb.Preferences.from_rankings(table, ranking="votes", item="winner", rank="loser")
prefs = rb.Preferences.from_clicks(table, session="winner", rule="last-click")
prefs = rb.Preferences.from_clicks(table, propensity="margin", clip=0.1, query="loser")
seen: np.ndarray = rb.click_propensities(table, query="query").probability.to_numpy()
prefs = rb.Preferences.from_matches(table, result=("hg", "ag"), margin="difference", ties="drop")
prefs = rb.Preferences.from_counts(table, wins_first="votes", tie="drawn", ties="half")
prefs = rb.Preferences.from_wins([[0, 2], [1.5, 0]], items=["a", "b"])
prefs = rb.Preferences.from_wins(csr_array([[0, 2], [1, 0]]))
prefs = rb.Preferences.from_rankings([["a", "b"], ["b", "a"]], weight=[30, 12])
orders = rb.Orders.from_rankings(table, ranking="votes", weight="votes")
names: tuple | None = prefs.items
count: int = prefs.n_ties + len(prefs) + prefs.n_items
arrays: list[np.ndarray] = [prefs.better, prefs.worse, prefs.weight, prefs.margin]
incidence: csr_array = prefs.incidence()
cycle: list[int] | None = prefs.find_cycle()
some: rb.Preferences = prefs[:2][[0, 0, 1]][np.array([True, False, True])]
entries: tuple[int] = some.shape
known: list[np.ndarray | None] = [prefs.scores, prefs.queries]
prefs = prefs.reweighted(weight=weight[: len(prefs)]).item_weighted(weight)
differences: np.ndarray = prefs.rmatvec(prefs.matvec(X[:, 0]))
patients: rb.Preferences = rb.Preferences.from_survival(y, [True] * len(y), qid, weight=weight)
followed: np.ndarray | None = patients.survival

# Metrics

share: float = rb.disagreement(prefs, X[:, 0], tie_tol=0.0) + rb.auc(y, X[:, 0], qid, weight)
share += rb.metrics.ndcg(y, rows[0], qid, k=3) + rb.metrics.average_precision(y, X[:, 0])
ids, values = rb.metrics.by_query(rb.metrics.auc, y, X[:, 0], qid, sample_weight=weight)
share += rb.metrics.disagreement(y, X[:, 0]) + float(values.max())
share += rb.metrics.pair_accuracy(y, X[:, 0], qid, weight, empty=0)
share += rb.metrics.reciprocal_rank(y, rows[0], qid, weight, k=3, empty="skip")
share += rb.metrics.err(y, X[:, 0], k=3, max_grade=4) + rb.metrics.kendall_tau(y, X[:, 0], qid)
share += rb.metrics.precision_at_k(y, X[:, 0], k=3) + rb.metrics.recall_at_k(y, X[:, 0], qid, k=3)
share += rb.metrics.hit_rate_at_k(y, X[:, 0], k=3) + rb.metrics.rank_biased_precision(y, rows[0])
share += rb.metrics.bpref(y, X[:, 0], qid, weight, empty=1)
share += rb.metrics.infap(y, X[:, 0], qid, weight, unpooled=-2, empty=1)
share += rb.metrics.rank_biased_overlap(y, X[:, 0], qid, weight, k=3, p=0.5, empty=1)
share += rb.metrics.ndcg(y, X[:, 0], gain="linear", empty=1)
share += rb.metrics.ndcg(prefs, X[:, 0]) + rb.metrics.pair_accuracy(prefs, X[:, 0])
compared: dict[str, rb.metrics.Comparison] = rb.metrics.compare(y, y, {"b": weight}, qid)
ids, values = rb.metrics.by_query("ndcg@3", y, X[:, 0], qid, empty=0, gain="linear")
share += rb.metrics.scorer("ndcg@10", gain="linear")(None, X, y)
bounds: rb.metrics.Interval = rb.metrics.interval(y, X[:, 0], qid, metric="err@3", max_grade=2)
better: rb.metrics.Comparison = rb.metrics.compare(y, X[:, 0], X[:, 1], qid, random_state=1)
share += bounds.low + better.difference + better.p_randomization + better.wins
cuts: np.ndarray = rb.metrics.best_cuts(y, X[:, 0], "absolute", sample_weight=weight, tie_tol=0.0)
share += rb.metrics.concordance(patients, X[:, 0], train=patients, tau=2.0, tie_tol=0.0)
areas, mean = rb.metrics.dynamic_auc(patients, X[:, 0], [1.0], train=patients)
lost, mean = rb.metrics.survival_brier(patients, weight, 1.0, train=patients)
groups: rb.metrics.RiskGroups = rb.metrics.risk_groups(patients, X[:, 0], [0.5], confidence=0.9)
alive: rb.metrics.SurvivalCurve = groups.curves[0]
share += lost[0] + alive.median + alive.restricted_mean(1.0) + alive.at([1.0])[0] + groups.p_value
met: rb.metrics.SurvivalCalibration = rb.metrics.survival_calibration(patients, weight, 1.0, 2)
certain: rb.metrics.ConcordanceInterval = rb.metrics.concordance_interval(
    patients, X[:, 0], tau=2.0
)
contrast: rb.metrics.ConcordanceComparison = rb.metrics.compare_concordances(patients, y, weight)
share += met.error + certain.standard_error + contrast.difference + contrast.p_value
share += float(rb.BaselineHazard(patients, y).restricted_mean(y, 1.0)[0])
share += float(areas[0]) + mean + rb.RankSVM().fit(X, patients).score(X, patients)
share += rb.metrics.brier_score(y, X[:, 0], qid) + rb.metrics.log_loss(prefs, y, link=None)
diagram: rb.metrics.Reliability = rb.metrics.reliability(y, X[:, 0], bins=3, confidence=0.9)
share += diagram.error + float(diagram.observed[0])
judged = rb.RankSVM().fit(X, y).calibrate(X, y, qid, method="isotonic", random_state=1)
probabilities: np.ndarray = judged.predict_pair_proba(X, rows) + judged.predict_choice_proba(X)
probabilities = rb.calibrate(y, X[:, 0], qid, weight).probability(X[:, 0])
share += rb.metrics.log_loss(y, X[:, 0], link=judged.link_)
error: type[ValueError] = rb.metrics.UndefinedMetric

# Kernels

kernel = rb.kernels.Kernel("rbf", gamma=0.5)
gram: np.ndarray = kernel.gram(X) + kernel.cross(X, X) + kernel.centred_gram(X)
gram = kernel.reduced_cross(X, X)
chosen: np.ndarray = choose_basis(rows, 2, method="kmeans++", random_state=0)
subspace = NystroemMap(
    X, n_components=2, kernel=rb.kernels.Kernel("poly", degree=2), pivots="rpcholesky"
)
coordinates: np.ndarray = subspace.transform(X) + subspace.features[:, : len(subspace.pivots)]

# Problems and solutions

ranking = rb.RankSVMProblem(sparse, prefs, kernel="linear", loss="squared", copy=False)
ranking = rb.RankSVMProblem(rows, prefs, kernel=lambda a, b: a @ b.T, penalty="l2")
lam: float = 0.5 * ranking.lam_max
solution: rb.Solution = rb.solve(ranking, lam, solver="qp")
scores: np.ndarray = solution.predict(sparse) + solution.coef + solution.problem.X[:, 0]
proof: rb.Certificate = ranking.certificate(lam, solution.coef)
small: bool = proof.is_optimal(1e-8) and proof.box_violation < 1e-9
small = solution.certificate.is_optimal() and solution.certificate.relative_gap < 1
order: np.ndarray = solution.proven([0, 1], [2, 3])
questions: np.ndarray = rb.suggest_pairs(solution, 5, qid, exclude=[[0, 1]])
questions = rb.suggest_pairs(solution, k=2, X_new=sparse)
name: str = solution.solver + repr(solution.info.get("advice"))
if solution.weights is not None and isinstance(solution.dual, np.ndarray):
    total: float = float(solution.weights.sum() + solution.dual.sum())

squares = rb.RankRLSProblem(X, y, qid, gamma=1.0, basis=[0, 1])
residual: float = squares.certificate(1.0, np.zeros(2)).relative_residual
squares = [rb.RankRLSProblem(X, graph=prefs), rb.RankRLSProblem(X, y, graph="identity")][0]
squares = rb.RankRLSProblem(X, y, kernel="linear", penalty="l1")
statistics = rb.RankingStatistics(kernel="linear").add(X, y, qid).remove(X, y, qid)
statistics = merge_statistics(statistics, rb.RankingStatistics(X[:2], kernel="rbf"))
tables = LabelRankRLSProblem(X, np.c_[y, -y], gamma=1.0, object_weight=weight)
hinges = LabelRankSVMProblem(X, np.c_[y, -y], "linear", label_kernel="identity", loss="squared")
objects = rb.kernels.over(["a", "ab"], lambda a, b: float(len(set(a) & set(b))))
strings = rb.RankRLSProblem(objects.items, [1.0, 2.0], kernel=objects)
pairs = rb.RankRLSProblem(X, y, kernel=rb.kernels.joint(rb.kernels.Kernel("rbf"), "linear"))
labels = rb.RayleighProblem(X, y, X_unlabelled=rows, n_components=2, metric="cosine")
quotient: float | None = labels.certificate(1.0, np.zeros(2)).quotient
bound: float = auc_bound(rb.solve(labels, 1.0), delta=0.1, kernels=2).auc
classes = [
    rb.SVMProblem(X, y, weight=weight).classify(np.zeros(6), X),
    MulticlassSVMProblem(X, y, kernel="rbf").classify(np.zeros((6, 2)), X),
]

# Paths and curves

path: rb.SolutionPath = rb.solve_path(ranking, lam_min=lam, solver="path", max_events=10)
low, high = path.domain
points: np.ndarray = path.breakpoints + path.coef(lam)[0] + path.predict(rows, lam)[0]
text: str = path.status + path.solver + repr(path.info) + str(path.certificate(lam))
dual, again = path.dual(lam), path.solution(lam).lam
if isinstance(path, rb.RegularizationPath):
    path.save(Path("path.npz"))
    longer: rb.RegularizationPath = path.resume(lam_min=lam / 2)
    events: int = len(path.events) + len(path.to_frame()) + len(path.summary())
    nearest: float = path.nearest(lam).certificate.gap
loaded: rb.SolutionPath = rb.load("path.npz")
curve: rb.ValidationCurve = rb.validation_curve(path, X, prefs)
widths = rb.kernel_path(rb.RankSVMProblem(X, prefs), lam, gammas=[0.1, 1.0])
wider: rb.Solution = widths.solution(0.5, tol=1e-3)
curve = rb.validation_curve(loaded, rows, y, qid=qid, metric="ndcg", k=3)
curve = rb.validation_curve(loaded, rows, y, metric="error")
lam = rb.choose_lambda(curve, "largest") + curve.choose() + float(curve.at(lam)) + curve.minimum
intervals: list[tuple[float, float]] = curve.best + curve.local_minima()
steps: np.ndarray = curve.at(curve.breaks[1:]) - curve.values

# Solvers


@rb.register_solver
class Zero(rb.Solver):
    """A plugin."""

    name = "zero"
    problems = ("RankSVMProblem", "SVMProblem")
    provides = {"solve"}
    tol = None

    def solve(self, problem: rb.RankSVMProblem, lam: float) -> rb.Solution:
        return rb.Solution(problem, lam, coef=np.zeros(problem.n_items), solver=self.name)


fits = Zero().can_solve(ranking) is True
answers: list[rb.Solution] = [rb.solve(ranking, lam, Zero), rb.solve(squares, lam, Zero())]
options = rb.solve(ranking, lam, ("path", {"max_events": 50}), allow_plugins=True)
solver = rb.get_solver("newton", tol=1e-9)
states: list[str] = [row["state"] for row in rb.list_solvers(allow_plugins=True)]
quickest: str = rb.compare_solvers(ranking)[0].solver
longest: float = rb.compare_solvers(ranking, lam, provides="path")[-1].seconds
rb.unregister_solver("zero")

# Estimators

svm = rb.RankSVM(lam=0.1, kernel="linear", solver="newton", penalty="l1").fit(
    sparse, y, qid, weight
)
svm = rb.RankSVM(kernel="linear", signs={"age": -1}).fit(X, y)
signed = rb.RankSVMProblem(X, prefs, kernel="linear", signs=[1, 0])
weights_of_signs: np.ndarray | None = signed.signs
svm = rb.RankSVM(solver=Zero, approximate_kernel=3).fit(rows, y, qid=qid)
svm = rb.RankSVM().fit(X, prefs).fit(X, preferences=[("a", "b")])
rls = rb.RankRLS().fit(X, prefs[:2]).fit(X, preferences=prefs)
stream = rb.OnlineRankSVM().fit(X, prefs[np.array([True, False])]).partial_fit(X, prefs)
scores = svm.predict(X) + svm.coef_[0] + svm.dual_coef_[0] * svm.support_[0]
share = (
    svm.score(X, y, qid)
    + svm.score(X, prefs)
    + svm.by_query_
    + svm.certificate_.relative_gap
    + svm.solution_.lam
)
svm_cv = rb.RankSVMCV(cv=3, rule="one_se", metric="auc", n_jobs=2).fit(X, y, qid)
svm_cv = rb.RankSVMCV(fold_by="pair", query_weight=None).fit(X, preferences=prefs)
svm = rb.RankSVM(query_weight="equal").fit(X, y, qid).set_fit_request(qid=True)
count = svm_cv.n_dropped_
lam = svm_cv.lam_ + svm_cv.best_[0][0] + svm_cv.curve_.minimum + svm_cv.fold_curves_[0].minimum
rls = rb.RankRLS(basis=3, basis_method="rpcholesky", graph="identity").fit(X, np.c_[y, y])
rls = rb.RankRLS(kernel="linear", penalty="l1").fit(X, y, qid, sample_weight=weight)
rls = rb.RankRLS(query_weight="equal").fit(X, y, qid)
rls = rb.RankRLS(kernel="linear").fit(iter([(X, y, qid)])).partial_fit(X, y, qid, weight)
lam = rls.certificate_.dropped + rls.statistics_.n_items + rls.predict(X)[0]
rls_cv = rb.RankRLSCV(lams=[0.1, 1.0], gamma=[0.5, 1.0], cv="lpo", random_state=1).fit(X, y, qid)
rls_cv = rb.RankRLSCV(fold_by="pair").fit(X, preferences=prefs)
count = rls_cv.n_dropped_
lam = rls_cv.lam_ + rls_cv.best_value_ + float(rls_cv.cv_values_.min())
ranker = rb.LabelRanker(0.5, "ranksvm", label_kernel=np.eye(2)).fit(X, np.c_[y, -y], weight)
best: np.ndarray = (
    ranker.rank(X, random_state=0)[:, 0] + ranker.n_labels_ + ranker.score(X, np.c_[y, -y])
)
dyads = rb.LabelRanker(label_kernel=rb.kernels.Kernel("rbf", gamma=1.0))
scores = dyads.fit(X, np.c_[y, -y], labels=X[:2]).predict(X, labels=X[:3])
part: float = dyads.score(X, np.c_[y, -y], labels=X[:2]) + dyads.rank(X, labels=X[:3])[0, 0]
scores = dyads.pair_coef_ @ np.eye(2)
dyads_cv = rb.LabelRankerCV([0.1, 1.0], "both", cv=2, label_kernel="rbf", random_state=1)
scores = dyads_cv.fit(X, np.c_[y, -y, y], labels=X[:3]).cv_predictions_ + dyads_cv.predict(X)
lam = dyads_cv.lam_ + dyads_cv.best_value_ + float(dyads_cv.cv_values_[dyads_cv.lams_ > 0.5].sum())
ordinal = rb.OrdinalRanker(rb.RankRLS(), loss="absolute").fit(X, y, weight)
scores = ordinal.decision_function(X) + ordinal.cuts_[0] + ordinal.predict(X) + ordinal.classes_[0]
rayleigh = rb.RayleighRanker(n_components=2, unlabelled=-1, neighbours="exact").fit(X, y)
scores = rayleigh.decision_function(X) + rayleigh.classes_[1] + rayleigh.certificate_.norm
shares: np.ndarray = rayleigh.predict_proba(X)
rayleigh_cv = rb.RayleighRankerCV(manifold_weights=(0.0, 1.0), n_components=[2, 3]).fit(X, y)
lam = rayleigh_cv.manifold_weight_ + rayleigh_cv.score(X, y, weight)
online = rb.OnlineRankSVM(step="1/sqrt(t)", average="plain", offset=0).partial_fit(X, y, qid)
scores = online.partial_fit_pairs(X[:3], X[3:]).predict(rows) + online.n_updates_
online = online.partial_fit_pairs(X[:3], X[3:], weight=[1, 2, 0], margin=np.ones(3))
text = rb.to_json(online) + rb.to_json(online, "solr", name="m")
file_of_onnx: bytes = rb.to_onnx(ranker)
warm = rb.RankSVM(kernel="linear").fit(X, y, start=online)
nightly = rb.RankRLS(kernel="linear").fit(rb.RankingStatistics())
online_svc = rb.OnlineSVC(random_state=np.random.default_rng(0)).partial_fit(X, y, classes=[0, 1])
scores = online_svc.fit(X, y, weight).decision_function(X) + online_svc.coef_[0]
online_svc = online_svc.fit(X, y, margin=weight).partial_fit(X, y, margin=weight)

scores = svm.rank(X) + ordinal.rank(X) + rayleigh.rank(rows) + online.rank(X)

for model in (svm, svm_cv, rls, rls_cv, ranker, ordinal, rayleigh, rayleigh_cv, online, online_svc):
    model.save(Path("model.rankbook"))
scores = rb.load("model.rankbook").predict(X)
why = rb.explain_pair(svm, X[0], rows[1], by="items")
sure: bool = rb.explain_pair(solution, 0, 1).proven and why.difference > why.bound
terms: list[tuple[str, float]] = why.rows(3) + [(why.verdict, float(why.contributions.sum()))]


class Exponential:
    """A loss of one's own."""

    name = "exponential"

    def value(self, t: np.ndarray) -> np.ndarray:
        """exp(t)"""
        return np.exp(t)

    def derivative(self, t: np.ndarray) -> np.ndarray:
        """Its derivative."""
        return np.exp(t)

    def conjugate(self, a: np.ndarray) -> np.ndarray:
        """a log a - a, for a of at least 0."""
        return a * np.log(a) - a


own: rb.PairLoss = Exponential()
choices = rb.RankSVM(loss=own).fit(X, y).set_params(loss="plackett-luce").fit(X, orders)
scores = rb.RankSVMCV("linear", loss="plackett-luce", fold_by="order").fit(X, orders).coef_
board = rb.match_prior(rb.RankSVM(kernel="linear", loss="logistic"), X, prefs)
found: rb.OrderIntervals = rb.order_intervals(
    board, X, level=0.9, method="bootstrap", unit="item", n_jobs=1, random_state=0
)
print(rb.coefficient_table(board, level=0.9, robust=True, cluster=[1, 2], standardized=True).coef)
found = rb.order_intervals(board, X, simultaneous=True, n_resamples=200)
bounds = found.low + found.high + found.rank_low + found.rank_high + found.decided[0]
first: str = found.names[found.order[0]] + found.remark
frame = found.to_frame()
matches_played: dict[str, list[str] | list[int]] = dict(
    winner=["a", "b"], loser=["b", "a"], judge=[1, 2], day=["2026-01-01", "2026-01-02"]
)
standings = rb.Leaderboard(
    columns=dict(weight="n"), ties="davidson", unit="judge", lam=1.0, pair_lam=1.0,
    intervals=["a"], level=0.9, simultaneous=True, method="bootstrap", rank_method="credible",
    scale="elo", anchor=("a", 1000.0), min_votes=10, balance=True, date="day",
    since="2026-01-01", half_life="90d", by=["judge"], n_draws=100, random_state=0,
).fit(matches_played, unit=[1, 2])  # fmt: skip
duel: rb.Comparison = standings.compare("a", "b")
sizes = duel.difference + duel.low + duel.high + duel.probability + duel.p_value
about_board: str = (
    duel.a + duel.b + standings.remark + standings.to_markdown() + standings.items_[0]
)
is_decided: bool = duel.decided
board_frames = (
    standings.table_,
    standings.pair_table_,
    standings.changes_,
    standings.to_frame(),
    standings.top(3),
)
sizes += (
    standings.lam_
    + standings.phi_
    + standings.score(matches_played)
    + standings.tables_["judge", "1"].lam_
)
board_chances = standings.predict("a"), standings.predict_proba("a", ["b"], pair_features=[1.0])
standings.write("ranks.md")
standings.save("ranks.rankbook")
drawn_board: Axes = standings.plot(k=3)

# Data and pictures

needs: dict[str, str] = rb.datasets.list_datasets()
data: rb.datasets.Dataset = rb.datasets.load("cancer")
of_votes = rb.Leaderboard().fit(rb.datasets.load_votes())
shipped = [rb.datasets.load_matches(), rb.datasets.load_clicks(), rb.datasets.load_orders()]
n_patients: int = len(rb.datasets.load_survival())
data = rb.datasets.make_mixture(n_per_class=20, seed=1)
data = [rb.datasets.load_auto(), rb.datasets.load_cancer(), rb.datasets.load_diabetes()][0]
data = [rb.datasets.load_digits(), rb.datasets.load_mixture(), rb.datasets.load_optdigits()][0]
data = rb.datasets.load_mq2008(fold=2)
parts = data.X, data.y, data.qid, data.name, rb.datasets.PARTS
ax: Axes = rb.plots.plot_path(path, what="coef", which=[0, 1], n=10)
ax = rb.plots.plot_sets(path, ax=ax)
ax = rb.plots.plot_path(path, "weights", names=["size", "age"])
ax = rb.plots.plot_validation_curve(curve, lam=lam, label="one")
ax = rb.plots.plot_roc(y, X[:, 0], label="one")
ax = rb.plots.plot_reliability(diagram, ax, label="one")
ax = rb.plots.plot_risk_groups(groups, ax)
ax = rb.plots.plot_intervals(found, ax, by="score", k=3)
ax = rb.plots.plot_pair(why, ax, k=5, names=("a", "b"))
slider: rb.plots.LambdaSlider = rb.plots.LambdaSlider(path, curve, X, names=["a", "b"], lam=lam)
ranked: list[str] = slider.order(lam)
axes: np.ndarray = rb.plots.plot_decision(path, [lam, 2 * lam], y, axes=[ax, ax], names=["a", "b"])

blocks = rb.Blocks([rb.Block(X, y, qid), rb.Block(X, [0, 1], weight=weight, name="b", copy=False)])
solution = rb.solve(rb.BlockRankSVMProblem(blocks, loss="squared"), lam)
one: float = rb.metrics.over_blocks("ndcg@10", blocks, solution, empty=0)
doubt: type[Warning] = rb.Assumption
data = rb.read_table("a.csv", "y", "q", name="id", drop=["c"])
votes: rb.Preferences = rb.read_preferences(Path("v.csv"), "matches", items=("a",), ties="half")
ratings: rb.Ratings = rb.read_ratings(frame, frame, frame, user="u", item="i", rating="n")
top = dyads.fit(ratings.X, ratings.y, labels=ratings.labels).recommend(X, k=5, exclude=frame)
orders = rb.read_orders(Path("o.csv"), "orders", items=("a",), unranked="last")
blocks = rb.read_blocks("a.parquet", "y", qid="q", features=["a"], weight="w", rows=100)
blocks = rb.read_blocks(["a.csv", Path("b.csv")], target="y", drop=("c",))
spread = rb.dask_blocks(blocks, keep=True)
spread = rb.dask_blocks("a dask array", "another", qid="a third", shuffle=True)
solution = rb.solve(rb.BlockRankSVMProblem(spread), lam)
if not isinstance(spread, rb.Blocks):
    spread.release()

two = rb.RankSVMProblem([[0.0], [1.0]], rb.Preferences([1], [0], 2))
rb.solve_path(two, solver="path").save("path.npz")
any_path: rb.SolutionPath = rb.solve_path(two)

checked: rb.testing.CheckTable = rb.testing.check_solver("newton", time_limit=10.0, progress=False)
checked += rb.testing.check_loss(own)
declared: dict[str, str] = rb.testing.expected_failed_checks(rb.RankSVM())


@rb.testing.parametrize_with_solver_checks(["newton"], time_limit=10.0)
def test_solver(check: object) -> None: ...
