"""Figures of lifelines, statsmodels and R for ``test_coefficients.py``; see the last line.

    python tests/estimators/peer_coefficients.py > tests/estimators/coefficients.json

with lifelines, statsmodels, R and its package survival installed. The patients are those of
``rb.datasets.load_survival``; their entries and the votes are made up by formulas.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
FEATURES = ["age", "marker", "treated"]
COXPH = """
library(survival)
given <- commandArgs(TRUE)
fit <- coxph(as.formula(given[2]), read.csv(given[1]), ties = given[3],
             weights = if (given[4] == "weights") weight else NULL,
             cluster = if (given[5] == "clinic") clinic else row,
             control = coxph.control(eps = 1e-14, iter.max = 100))
cat(sprintf("%.17g", c(coef(fit), sqrt(diag(fit$var)))), sep = "\n")
cat(R.version$major, ".", R.version$minor, "\n", as.character(packageVersion("survival")), sep = "")
"""


def patients(path=HERE.parents[1] / "rankbook" / "data" / "tables" / "survival.csv"):
    """Patients without gaps, with times in weeks (many ties), entries and weights."""
    table = pd.read_csv(path).dropna().reset_index(drop=True)
    i = np.arange(len(table))
    table["treated"] = (table["treated"].isin([1, True, "yes"])).astype(float)
    week = 1 + table["days"] // 7
    entry = week * (7 * i % 10) // 12
    instant = table["days"] + i / 1000  # without ties
    return table.assign(week=week, instant=instant, entry=entry, weight=1 + i % 3)


def votes(table):
    """Votes between patients: the difference of their features (m, 3) and who won (m,)."""
    n = len(table)
    first, second = np.arange(n), (7 * np.arange(n) + 3) % n
    kept = first != second
    won = (first * first // 3 % 2 == 0)[kept]
    return first[kept], second[kept], won


def coxph(table, name):
    """Coefficients and robust errors of R's coxph for a case, and the versions of R and survival.

    R weighs the score residuals of tied events by Efron's rule.
    """
    words = name.split()
    time = "Surv(entry, week, event)" if "entry" in words else "Surv(week, event)"
    formula = f"{time} ~ {' + '.join(FEATURES)}{' + strata(clinic)' * ('strata' in words)}"
    options = [words[0], "weights" * ("weights" in words), "clinic" * ("clusters" in words)]
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        table.assign(row=np.arange(len(table))).to_csv(file.name, index=False)
        run = ["Rscript", "-e", COXPH, file.name, formula, *options]
        lines = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split("\n")
    values = list(map(float, lines[: 2 * len(FEATURES)]))
    return [values[: len(FEATURES)], values[len(FEATURES) :]], lines[2 * len(FEATURES) :]


def main():
    """Write all figures: {case: [coefficients, standard errors]}."""
    import lifelines
    import statsmodels
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.duration.hazard_regression import PHReg

    warnings.simplefilter("ignore")
    table, found = patients(), {}
    precise = dict(fit_options=dict(precision=1e-14))

    def lines(name, columns=(), **options):
        time = "instant" if "distinct" in name else "week"
        given = table[[*FEATURES, time, "event", *columns]]
        fit = lifelines.CoxPHFitter().fit(given, time, "event", **precise, **options)
        found[name] = [fit.params_[FEATURES].tolist(), fit.standard_errors_[FEATURES].tolist()]

    lines("efron")
    lines("efron strata", ["clinic"], strata="clinic")
    # lifelines takes tied events one after the other in its residuals: with ties, see R below
    lines("efron distinct robust", robust=True)
    lines("efron distinct clusters", ["clinic"], cluster_col="clinic")
    lines("efron distinct strata robust", ["clinic"], strata="clinic", robust=True)
    lines("efron distinct weights robust", ["weight"], weights_col="weight", robust=True)
    rows = table[[*FEATURES, "entry", "week", "event"]].assign(id=np.arange(len(table)))
    fit = lifelines.CoxTimeVaryingFitter().fit(
        rows,
        id_col="id",
        event_col="event",
        start_col="entry",
        stop_col="week",
        fit_options=dict(precision=1e-14),
    )
    found["efron entry"] = [fit.params_.tolist(), fit.standard_errors_.tolist()]
    late = table["entry"] + 0.5  # statsmodels has patients at risk at the time of entry
    cox = dict(status=table["event"].astype(int))
    for name, options in {
        "breslow": dict(ties="breslow"),
        "breslow strata": dict(ties="breslow", strata=pd.factorize(table["clinic"])[0]),
        "breslow entry": dict(ties="breslow", entry=late),
        "breslow strata entry": dict(
            ties="breslow", entry=late, strata=pd.factorize(table["clinic"])[0]
        ),
    }.items():
        fit = PHReg(table["week"], table[FEATURES].astype(float), **cox, **options)
        fit = fit.fit(disp=0, method="newton", tol=1e-12, maxiter=100)
        found[name] = [fit.params.tolist(), fit.bse.tolist()]
    first, second, won = votes(table)
    X = table[FEATURES].to_numpy(float)
    fit = Logit(won.astype(float), X[first] - X[second]).fit(disp=0, tol=1e-14)
    found["logit"] = [fit.params.tolist(), fit.bse.tolist()]
    fit = Logit(won.astype(float), X[first] - X[second]).fit(disp=0, tol=1e-14, cov_type="HC0")
    found["logit robust"] = [fit.params.tolist(), fit.bse.tolist()]
    for ties in ("efron", "breslow"):
        cases = ["robust", "clusters", "weights robust", "strata robust", "entry robust"]
        for case in (*cases, "entry weights strata clusters"):
            found[f"{ties} {case}"], of_r = coxph(table, f"{ties} {case}")
    versions = dict(lifelines=lifelines.__version__, statsmodels=statsmodels.__version__)
    versions |= dict(zip(("R", "survival"), of_r))
    text = json.dumps(dict(versions=versions, figures=found), indent=1)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
