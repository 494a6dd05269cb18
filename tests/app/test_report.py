"""Reports: what they say, that names stay text, and what a browser makes of them."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import done, refused
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.app.coefficients import stored_table
from rankbook.app.evidence import comparison_rows, evidence_of
from rankbook.app.page import picture, table
from rankbook.app.report import make_report
from rankbook.app.sections import Choice, weights_of
from rankbook.app.survival import survival_results
from rankbook.preferences.orders import survival_target

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "build" / "site" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
EVIL = [
    "</title><script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "🤖 bot",
    "$x$ _{y}",
    "a\x1bb",
]
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(160, 3)), columns=["bm25", EVIL[0], "age"])
Y = np.clip(np.round(X.to_numpy() @ [1.0, 0.4, 0.0] + 0.6 * RNG.normal(size=160) + 1), 0, 4)
QID = np.repeat([f"{EVIL[i % 5]} {i}" for i in range(16)], 10)
NAMES = [f"{EVIL[i % 5]} item {i}" for i in range(80)]
NEW = (X[80:], Y[80:], QID[80:])
SOURCES = ("script", "img", "iframe", "link", "source", "video", "object", "embed", "image", "use")


class Reader(HTMLParser):
    """The text of a page, its elements, ids and what it names to load."""

    def __init__(self, page):
        super().__init__()
        self.text, self.ids, self.loaded, self.opened, self.scripts = [], [], [], [], 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.opened.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        where = [given.get(key) for key in ("src", "href", "data", "xlink:href") if given.get(key)]
        self.loaded += where if tag in SOURCES else []
        assert not any(key.startswith("on") for key in given), "a handler of events"

    def handle_data(self, data):
        self.text.append(data)


def read(report):
    """A page, read: sound, and it loads nothing."""
    page = Reader(report.html)
    assert all(re.match(r"data:,$|#", each) for each in page.loaded), page.loaded
    assert len(set(page.ids)) == len(page.ids)
    page.text = " ".join("".join(page.text).split())
    assert not re.search(r"\bnan\b|\bNone\b", page.text.partition("Repeat it")[0])
    return page


@pytest.fixture(scope="module")
def models():
    linear = rb.RankSVM(kernel="linear", loss="logistic").fit(X[:80], Y[:80], QID[:80])
    return dict(linear=linear, coin=np.random.default_rng(1).normal(size=80))


@pytest.fixture(scope="module")
def pages(models):
    """A report of each kind."""
    cv = rb.RankSVMCV(kernel="linear", cv=3).fit(X[:80], Y[:80], QID[:80])
    k = RNG.integers(0, 5, 300)
    l = (k + RNG.integers(1, 5, 300)) % 5
    won, names = RNG.random(300) < 1 / (1 + np.exp(0.7 * (k - l))), np.array(EVIL)
    votes = dict(winner=names[np.where(won, k, l)], loser=names[np.where(won, l, k)])
    problem = rb.RankSVMProblem(X[:16], rb.Preferences.from_scores(Y[:16]), kernel="linear")
    path = rb.solve_path(problem, lam_min=5.0, solver="path")
    y = rb.Orders.from_preferences(survival_target(survival_data()))
    cox = rb.RankSVM(0.1, "linear", loss="plackett-luce").fit(X[:90], y)
    cox.about = dict(coefficients=stored_table(rb.coefficient_table(cox), EVIL[1]))
    score = cox.predict(X[:90])
    results = survival_results(y, score, at=4.0, groups=3, train=(y, score))
    return dict(
        survival=make_report(cox, X[:90], survival_data(), results=results, title=EVIL[0]),
        one=rb.report(cv, *NEW, names=NAMES, title=EVIL[0]),
        several=rb.report(models, *NEW, names=NAMES),
        board=rb.report(rb.Leaderboard().fit(votes)),
        path=rb.report(path, X[100:130], Y[100:130]),
    )


def test_a_page_answers_three_questions_first(pages):
    for report in pages.values():
        found = read(report)
        said = ("The result", "How sure is it?", "What next?", "What was read")
        places = [found.text.rindex(each) for each in said]
        assert places == sorted(places)
    text = read(pages["several"]).text
    assert "linear is best" in text and "Better than coin, p < 0.05" in text
    text = read(pages["one"]).text
    assert "How lambda was chosen" in text and "proven optimal" in text and "Kendall's tau" in text
    assert "within one standard error" in text and "3 folds of the training data" in text
    assert "Reliability: linear" in read(pages["several"]).text
    assert "lambda" in read(pages["path"]).text and 'type="range"' in pages["path"].html


@pytest.mark.parametrize("kind", ["one", "several", "board", "path"])
def test_names_are_text(pages, kind):
    found = read(pages[kind])
    scripts = 2 if kind == "path" else 0  # the slider has its data and its script
    assert found.opened.count("script") == scripts
    assert "\x1b" not in pages[kind].html
    if kind != "path":
        assert all(each.replace("\x1b", "\\x1b") in found.text for each in EVIL)


def test_a_share_of_pairs_has_the_error_of_its_queries(models):
    evidence = evidence_of(models, *NEW, None, None)
    value, low, high = evidence.share("linear")
    assert value == pytest.approx(
        1 - rb.metrics.disagreement(NEW[1], evidence.scores["linear"], NEW[2])
    )
    boots, prefs = [], evidence.prefs
    number = np.unique(NEW[2], return_inverse=True)[1]
    hit = np.bincount(number[prefs.better], 1 - evidence.missed["linear"])
    size = np.bincount(number[prefs.better])
    rng = np.random.default_rng(0)
    for _ in range(4000):
        some = rng.integers(0, 8, 8)
        boots.append(hit[some].sum() / size[some].sum())
    assert (high - low) / 2 == pytest.approx(2.365 * np.std(boots), rel=0.1)  # t of 7 degrees


def test_a_fit_is_not_judged_by_its_own_rows(models):
    text = read(rb.report(models["linear"], X[:80], Y[:80], QID[:80])).text
    assert "fitted to these data, so the values are too good" in text
    assert "too good" not in read(rb.report(models["linear"], *NEW)).text


def test_equal_models_are_not_told_apart(models):
    same = dict(a=models["linear"], b=models["linear"])
    assert "Not sure: b may be as good" in read(rb.report(same, *NEW)).text
    prefs = rb.Preferences.from_scores(NEW[1][:30])
    text = read(rb.report(same, X[80:110], preferences=prefs)).text
    assert "Not sure: b may be as good" in text and "mostly ranked" in text


def test_survival_times_have_a_concordance():
    rng = np.random.default_rng(2)
    times = rng.exponential(size=90) * np.exp(X[:90].to_numpy() @ [1.0, 0, 0])
    y = np.array(list(zip(rng.random(90) < 0.7, times)), dtype=[("event", bool), ("time", float)])
    model = rb.RankSVM(kernel="rbf").fit(X[:50], y[:50])
    text = read(rb.report(model, X[50:90], y[50:90])).text
    shown = float(re.search(r"([\d.]+)% concordance", text)[1])
    assert shown == pytest.approx(100 * model.score(X[50:90], y[50:90]), abs=0.06)
    assert "observed, others censored" in text and "training row" in text
    one = rb.metrics.concordance_interval(survival_target(y[50:90]), model.predict(X[50:90]))
    assert f"concordance{one.value:.3f}{one.low:.3f} to {one.high:.3f}Intervals" in text


def survival_data(n=90, late=False):
    """Survival times, in tens, that depend on the first feature."""
    rng = np.random.default_rng(3)
    time = 1 + np.floor(10 * rng.exponential(size=n) * np.exp(X[:n].to_numpy() @ [1.0, 0, 0]))
    entry = np.floor(time * rng.random(n)) - 1 if late else np.full(n, -1.0)
    event, kind = rng.random(n) < 0.7, [("event", bool), ("time", float), ("entry", float)]
    y = np.array(list(zip(event, time, entry)), dtype=kind)
    return y if late else y[["event", "time"]]


@pytest.mark.parametrize("late", [False, True])
def test_models_of_survival_are_compared_by_their_concordances(late):
    """Also with late entries; the rows are those of compare_concordances."""
    y = survival_data(late=late)
    a, b = X[:90].to_numpy()[:, 0], X[:90].to_numpy() @ [1.0, 0, 0.7]
    evidence = evidence_of(dict(a=a, b=b), X[:90], y, None, None, None)
    (row,) = comparison_rows(evidence, "a", "pair_accuracy")
    target = survival_target(y)
    one = rb.metrics.compare_concordances(target, a, b)
    assert (row["difference"], row["low"], row["high"]) == (one.difference, one.low, one.high)
    assert row["p"] == one.p_value and row["value"] == pytest.approx(one.value_b)
    assert evidence.error("a") == rb.metrics.concordance_interval(target, a).standard_error
    text = read(rb.report(dict(a=a, b=b), X[:90], y)).text
    assert f"{one.difference:+.4f}, 95% interval {one.low:+.4f}" in text
    assert f"Intervals treat {'rows' if late else 'patients'} as independent (90 of them)" in text
    assert "events" in text


def test_concordances_without_an_error_have_no_interval_and_no_proof():
    """All pairs in order; a patient in all pairs; no patient who changes the difference."""
    of = lambda time, event: np.array(
        list(zip(event, time)), dtype=[("event", bool), ("time", float)]
    )
    every, one = of([1, 2, 3, 4], [1, 1, 1, 1]), of([1, 2, 3], [1, 0, 0])
    text = read(rb.report(dict(a=np.arange(4.0)), X[:4], every)).text
    assert "no interval, because every comparable pair is in the right order" in text
    text = read(rb.report(dict(a=[1.0, 3, 2], b=[2.0, 1, 3]), X[:3], one)).text
    assert "because a patient is in every comparable pair" in text and "p = 1" in text
    few = of([9, 4, 4, 2, 6], [1, 1, 0, 1, 0])
    models = dict(a=[3.0, 1.0, 2.0, 1.0, 0.0], b=[1.0, 3.0, 2.0, 0.0, 1.0])
    assert "Not sure: b may be as good" in read(rb.report(models, X[:5], few)).text


def test_undefined_numbers_of_tables_are_blank():
    """The error of a constant, and the interval of an observed share of 0."""
    y = survival_data()[:30]
    y["event"], y["time"] = True, np.arange(1, 31)
    target, flat = survival_target(y), X[:30].assign(age=1.0)
    orders = rb.Orders.from_preferences(target)
    cox = rb.RankSVM(0.1, "linear", loss="plackett-luce").fit(flat, orders)
    with pytest.warns(UserWarning, match="do not determine the coefficients of 'age'"):
        cox.about = dict(coefficients=stored_table(rb.coefficient_table(cox)))
    results = survival_results(target, y["time"], at=15.0, train=(orders, cox.predict(flat)))
    assert "none: no patient left" in str(results[0])
    report = make_report(cox, flat, y, results=results)
    assert "Calibration" in read(report).text and "Hazard ratios" in report.html


def test_more_pairs_than_are_listed_have_an_interval(monkeypatch):
    """The jackknife needs no list, also with late entries."""
    from rankbook.app import evidence

    for late in (False, True):
        y, score = survival_data(late=late), X[:90].to_numpy()[:, 0]
        whole = read(rb.report(dict(a=score), X[:90], y)).text
        monkeypatch.setattr(evidence, "MOST_PAIRS", 100)
        text = read(rb.report(dict(a=score), X[:90], y)).text
        monkeypatch.undo()
        found = re.search(r"concordance(0\.\d{3}){2} to 0\.\d{3}", whole)[0]
        assert found in text and "The worst items" in whole and "The worst items" not in text
        assert re.search(r"preferences[\d,]+", whole)[0] in text


def test_wrong_calls_are_refused(models):
    with pytest.raises(ValueError, match="y is None, and there are several models"):
        rb.report(models)
    with pytest.raises(ValueError, match="models has 'a', a str. Pass a model with predict"):
        rb.report(dict(a="model"), *NEW)
    with pytest.raises(ValueError, match=r"names has shape \(3,\). Pass an array of shape \(80,\)"):
        rb.report(models["linear"], *NEW, names=list("abc"))
    with pytest.raises(ValueError, match="X is None. Pass an array"):
        rb.report(models["linear"], preferences=[(1, 2)])
    with pytest.raises(ValueError, match="models has an? .*. Pass a model with predict"):
        rb.report(NEW[1], *NEW)
    with pytest.raises(ValueError, match="preferences are given together with y or qid"):
        rb.report(models["linear"], *NEW, preferences=[(1, 2)])


def test_without_matplotlib_the_extra_is_named_before_any_work(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'report needs matplotlib.*"rankbook\[plots\]"'):
        rb.report(rb.RankSVM())  # not even looked at
    Path("votes.csv").write_text("winner,loser\na,b\n")
    assert '"rankbook[plots]"' in refused("rank", "votes.csv", "--report", "out.html")


def test_pictures_are_in_the_colours_of_the_page():
    svg = picture(lambda ax: ax.plot([0, 1], [0, 1], label="🤖"), 'a "line"', "said")
    assert "var(--c0)" in svg and "#0072b2" not in svg.lower() and "<metadata" not in svg
    assert 'aria-label="a &quot;line&quot;"' in svg and "<figcaption>said" in svg
    assert "&lt;b&gt;" in table("a", ["h"], [["<b>"]])


# The command line


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = X.set_axis(["bm25", "fresh", "age"], axis=1).assign(query=QID, grade=Y)
    frame = frame.assign(page=[f"page {i} <b>" for i in range(160)])
    frame[:80].to_csv("train.csv", index=False)
    frame[80:].to_csv("test.csv", index=False)


def test_six_commands_write_a_report(files, monkeypatch):
    columns = ("--target", "grade", "--qid", "query", "--name", "page", "--kernel", "linear")

    def page_of(command, *arguments):
        line = [command, *arguments, "--report", f"{command}.html"]
        monkeypatch.setattr(sys, "argv", ["rankbook", *line])
        done(*line)
        text = Path(f"{command}.html").read_text(encoding="utf-8")
        found = read(rb.Report(command, text))
        assert f"rankbook {command}" in found.text
        return found.text

    text = page_of(
        "select", "train.csv", *columns, "--validation", "test.csv", "--save", "s.rankbook"
    )
    assert "Go on with rankbook predict s.rankbook NEW.csv" in text
    assert QID[80][-6:] in text and "page 80 <b>" in text  # names of queries and of items
    assert "the validation part" in text and "missing values" in text
    text = page_of("fit", "train.csv", *columns, "-o", "a.rankbook", "--loss", "logistic")
    assert "too good" in text and "Go on with rankbook evaluate a.rankbook" in text
    text = page_of("evaluate", "a.rankbook", "test.csv")
    assert "a.rankbook on test.csv" in text and "Brier score" in text and "too good" not in text
    done("predict", "a.rankbook", "test.csv", "-o", "scores.csv")
    text = page_of("compare", "s.rankbook", "a.rankbook", "test.csv")
    assert re.search(r"[as]\.rankbook is (ahead|best)", text)
    text = page_of("path", "train.csv", *columns, "--validation", "test.csv", "--lam-min", "10")
    assert "Along the path" in text and "How lambda was chosen" in text
    Path("votes.csv").write_text(
        "winner,loser\n" + "<i>,b\n" * 30 + "b,<i>\n" * 5 + "b,c\nc,b\n" * 9
    )
    text = page_of("rank", "votes.csv")
    assert "<i> is first" in text and "to separate" not in text


def test_a_report_that_cannot_be_written_is_refused_before_any_work(files):
    Path("votes.csv").write_text("winner,loser\na,b\n")
    assert "a file that ends in .html" in refused("rank", "votes.csv", "--report", "out.pdf")
    assert "there is no folder" in refused("rank", "votes.csv", "--report", "no/out.html")
    error = refused("rank", "votes.csv", "--report", "o.html", "-o", "o.html")
    assert "and another argument names" in error
    error = refused("evaluate", "none.rankbook", "*.csv", "--report", "o.html")
    assert "DATA names several files" in error


# In a browser


@pytest.mark.parametrize("kind", ["one", "several", "board", "path", "survival"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it_wide_and_narrow(browser, pages, tmp_path, kind, scheme):
    file, faults = tmp_path / "page.html", []
    pages[kind].save(file)
    context = browser.new_context(color_scheme=scheme, viewport=dict(width=1280, height=900))
    tab = context.new_page()
    tab.on("console", lambda said: said.type == "error" and faults.append(said.text))
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("dialog", lambda box: faults.append(box.message))
    tab.on("request", lambda request: request.url == file.as_uri() or faults.append(request.url))
    tab.goto(file.as_uri())
    back = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
    tab.set_viewport_size(dict(width=390, height=844))
    assert tab.evaluate("document.scrollingElement.scrollWidth") <= 390
    letters = "[...document.querySelectorAll('figure svg text')]"
    sizes = tab.evaluate(f"{letters}.map(each => each.getBoundingClientRect().height)")
    assert all(size > 7 for size in sizes)
    stops = set()  # by keyboard: links, tables that scroll, folded parts
    for _ in range(60):
        tab.keyboard.press("Tab")
        stops.add(tab.evaluate("document.activeElement.tagName"))
    assert {"A", "DIV"} <= stops
    assert stops >= {"one": {"PRE"}, "several": {"SUMMARY"}, "path": {"INPUT"}}.get(kind, set())
    if AXE.exists():
        tab.evaluate("source => { new Function(source)(); }", AXE.read_text(encoding="utf-8"))
        found = tab.evaluate("axe.run(document).then(r => r.violations.map(v => v.id))")
        assert found == []
    context.close()
    assert faults == []


def test_effects_are_those_of_the_features_that_a_pipeline_passes_on():
    """Features of very different units have equal effects after scaling; gaps are filled."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(dict(small=rng.normal(size=60), large=1000 * rng.normal(size=60)))
    y = np.sign(X["small"] + X["large"] / 1000)
    X.iloc[0, 0] = np.nan
    model = make_pipeline(SimpleImputer(), StandardScaler(), rb.RankSVM(kernel="linear"))
    names, weights, effect = weights_of(model.fit(X, y), None, X)
    assert list(names) == ["small", "large"] and np.allclose(effect, weights)
    assert 0.5 < effect[0] / effect[1] < 2
    assert weights_of(model[-1], None, None)[2] is None  # not known without data


def test_lambdas_within_an_error_are_those_around_the_choice_without_gaps():
    path = rb.solve_path(rb.RankSVMProblem(X[:40], rb.Preferences.from_scores(Y[:40]), "linear"))
    curve = rb.validation_curve(path, X[40:60], Y[40:60])
    for error in np.unique(np.abs(curve.values - curve.optimum))[1:]:
        low, high = Choice(curve.choose(), "", curve, error=error).within
        inside = (curve.breaks[1:] >= low) & (curve.breaks[:-1] <= high)
        assert (np.abs(curve.values - curve.optimum)[inside] <= error).all()
        assert low <= curve.choose() <= high


def test_queries_without_preferences_do_not_count_and_the_first_best_item_is_shown():
    qid, y = np.repeat([1, 2, 3, 4], 3), np.array([2, 2, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1])
    scores = np.array([1.0, 3.0, 2.0, 0.0, 1.0, 2.0, *np.zeros(6)])
    model = dict(scores=scores)
    text = read(rb.report(model, np.zeros((12, 1)), y, qid, names=list("abcdefghijkl"))).text
    assert "independent (2 of them)" in text and "2 other queries have no preference" in text
    assert "b (grade 2), at 1" in text


def test_a_model_that_wins_every_pair_is_as_sure_as_its_number_of_items():
    text = lambda n: (
        read(rb.report(dict(a=np.arange(n), b=-np.arange(n)), X[:n], np.arange(n))).text
    )
    assert "Not sure: b may be as good" in text(3) and "p = 0.25" in text(3)
    assert "Not sure" not in text(12)


def test_rows_of_the_fit_are_known_behind_a_scaler_and_equal_names_are_refused():
    model = make_pipeline(StandardScaler(), rb.RankSVM(kernel="linear")).fit(X[:80], Y[:80])
    assert "too good" in read(rb.report(model, X[:80], Y[:80])).text
    assert "too good" not in read(rb.report(model, *NEW)).text
    with pytest.raises(ValueError, match="names that are equal as text"):
        rb.report({1: Y[80:], "1": Y[80:]}, *NEW)
    with pytest.raises(NotFittedError):
        rb.report(rb.Leaderboard())


def test_values_of_queries_that_differ_by_rounding_errors_have_a_picture():
    y, qid = [3, 3, 3, 3, 0, 3], [0, 0, 0, 1, 1, 1]
    assert rb.report(dict(a=y), np.zeros((6, 1)), y, qid)
