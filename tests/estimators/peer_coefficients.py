"""Figures of lifelines and statsmodels for ``test_coefficients.py``; see the last line.

    python tests/estimators/peer_coefficients.py > tests/estimators/coefficients.json

with lifelines and statsmodels installed. The patients are those of ``rb.datasets.load_survival``;
their entries and the votes are made up by formulas.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
FEATURES = ["age", "marker", "treated"]


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
    # with ties, the residuals of lifelines are Breslow's also in Efron's model
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
    versions = dict(lifelines=lifelines.__version__, statsmodels=statsmodels.__version__)
    text = json.dumps(dict(versions=versions, figures=found), indent=1)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
