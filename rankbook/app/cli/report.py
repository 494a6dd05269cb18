"""Reports of a fit or a selection, as text and JSON."""

import logging
import sys
from contextlib import contextmanager

import typer

from ...base.tables import count, printable

LOG = logging.getLogger("rankbook")  # --quiet raises its level


def say(text, err=False):
    """Print a text, and escape characters that would control the terminal."""
    typer.echo(printable(text), err=err)


def summarize(text, err=False):
    """Print the summary of a result that a file contains, unless --quiet is given."""
    if LOG.isEnabledFor(logging.WARNING):
        say(text, err)


def note(text, kind="note"):
    """Print a note to stderr, unless --quiet is given."""
    if LOG.isEnabledFor(logging.WARNING):
        say(f"rankbook: {kind}: {text}", err=True)


@contextmanager
def at_level(log, level):
    """Set the level of a logger for a while."""
    before = log.level
    log.setLevel(level)
    try:
        yield
    finally:
        log.setLevel(before)


def shows_bars():
    """Whether long work shows a progress bar: on a terminal, unless --quiet is given."""
    return sys.stderr.isatty() and LOG.isEnabledFor(logging.WARNING)


def left_out(measured, metric):
    """Format how many queries the mean of a metric covers; return "" if it covers all of them."""
    queries = measured["queries"]
    some = measured["queries_counted"].get(metric, queries)
    return f" over {some} of {queries} queries" if some < queries else ""


def certificate_line(certificate, more=""):
    """Format primal, dual and gap of a certificate (a dict), and `more`."""
    primal, dual, gap = (float(certificate[k]) for k in ("primal", "dual", "relative_gap"))
    return f"primal {primal:.10g}, dual {dual:.10g}, relative gap {abs(gap):.1e}{more}"


def report(facts):
    """Format a result as lines of text.

    Parameters
    ----------
    facts : dict
        Result of :meth:`rankbook.app.select.ModelSelection.summary`, with "compiling" in seconds.

    Returns
    -------
    list of str
    """
    data, split, prefs, kernel = (facts[k] for k in ("data", "split", "preferences", "kernel"))
    words = [f"{key[:-3]}y" if key == "queries" else key[:-1] for key in SIZES]
    sizes = [count(data[key], word) for key, word in zip(SIZES, words) if data[key]]
    queries = split["queries"] or {}
    parts = [
        f"{size} {name}" + (f" ({count(queries[name], 'query')})" if queries else "")
        for name, size in split["items"].items()
    ]
    scaled = "standardized on train" if split["standardized"] else "as they are"
    numbers = [f"{name} {value:.6g}" for name, value in kernel.items() if name != "name"]
    loss = "".join(f"; {facts[key]} {key}" for key in ("loss", "penalty") if facts[key])
    rows = [
        ("data", f"{data['name']}: {', '.join(sizes)}"),
        ("split", f"{', '.join(parts)}; {split['how']}; features {scaled}"),
        (
            "preferences",
            f"{prefs['train']} train ({prefs['graph']} graph), "
            + ", ".join(f"{prefs[name]} {name}" for name in facts["disagreement"]),
        ),
        ("kernel", ", ".join([kernel["name"], *numbers]) + loss),
    ]
    for row in facts["candidates"] if len(facts["candidates"]) > 1 else ():
        text = f" best value {row['minimum']:.6f}, widest interval a factor of {row['width']:.4g}; "
        text += f"{row['breakpoints']} breakpoints, {row['status']}"
        rows.append((f"  gamma {row['gamma']:.4g}"[:13], text))
    best, chosen = best_lines(facts["curve"], facts["chosen"]["lam"])
    gamma, rule = facts["chosen"]["gamma"], facts["chosen"]["rule"]
    how = RULE_WORDS[rule].format(facts["chosen"]["standard_error"])
    chosen += f" ({how})" if gamma is None else f", gamma {gamma:.6g} ({how})"
    chosen += features_used(facts)
    rows += [("path", path_line(facts)), *best, ("chosen", chosen)]
    area = facts["auc"]
    text = ", ".join(f"{value:.6f} {name}" for name, value in facts["disagreement"].items())
    if area is not None:
        text += f"; AUC {area:.6f} test" + ", mean over queries" * (data["queries"] is not None)
    rows.append(("disagreement", text))
    if facts["concordance"] is not None:
        text = ", ".join(f"{value:.6f} {name}" for name, value in facts["concordance"].items())
        rows.append(("concordance", text))
    metric = facts["curve"].get("metric", "disagreement")
    shown = SHORT if metric == "disagreement" else {metric: metric} | SHORT
    for part in ("validation", "test"):
        measured = facts[part] or dict(metrics={}, level_auc=[])
        text = ", ".join(
            f"{name} {measured['metrics'][key]:.6f}{left_out(measured, key)}"
            for key, name in shown.items()
            if key in measured["metrics"]
        )
        rows += [(part, text)] if text else []
        levels = [row for row in measured["level_auc"] if row["auc"] is not None]
        text = ", ".join(f"{row['better']:g} > {row['worse']:g} {row['auc']:.4f}" for row in levels)
        rows += [("AUC", text)] if text and part == "test" else []
    by = ", computed by rankbook, not by the solver"
    rows.append(("certificate", certificate_line(facts["certificate"], by)))
    spent = [row["seconds"] for row in facts["candidates"]]
    path, curve = (sum(seconds[key] for seconds in spent) for key in ("path", "curve"))
    s, compiling = "s" * (len(spent) > 1), facts["seconds"]["compiling"]
    text = f"path{s} {path:.1f} s, validation curve{s} {curve:.1f} s"
    rows.append(("time", text + f", {compiling:.1f} s of it compiling" * (compiling >= 0.05)))
    return [f"{label:13}{text}" for label, text in rows]


def features_used(facts):
    """Format the number of features of a model with a sparse penalty."""
    used = facts["chosen"]["features"]
    return "" if used is None else f"; {used} of {count(facts['data']['features'], 'feature')} used"


def fold_report(facts):
    """Format a choice by folds as lines of text.

    Parameters
    ----------
    facts : dict
        Result of :meth:`rankbook.app.folds.FoldSelection.summary`, with "compiling" in seconds.

    Returns
    -------
    list of str
    """
    data, folds, prefs, kernel = (facts[k] for k in ("data", "folds", "preferences", "kernel"))
    chosen, wrong = facts["chosen"], facts["disagreement"]
    span = lambda sizes: " to ".join(f"{n}" for n in sorted({min(sizes), max(sizes)}))
    by = folds["by"]
    if folds["groups"] is not None:
        groups = f"groups of {'preferences' if by == 'pair' else 'items'}"
        whole, groups = ("query", "queries") if by == "query" else ("group", groups)
        by = f"{whole}, of {folds['groups']} {groups}"
    scaled = "standardized" if facts["standardized"] else "as they are"
    numbers = [f"{name} {value:.6g}" for name, value in kernel.items() if name != "name"]
    loss = "".join(f"; {facts[key]} {key}" for key in ("loss", "penalty") if facts[key])
    given = [name for name in SIZES if data.get(name) is not None]
    sizes = ", ".join(count(data[name], name[:-1]) for name in given)
    rows = [
        ("data", f"{data['name']}: {sizes}; features {scaled}"),
        ("preferences", ", ".join(f"{number} {part}" for part, number in prefs.items())),
        (
            "folds",
            f"{folds['number']} by {by}, seed {folds['seed']}; each leaves out "
            f"{span(folds['left_out'])} preferences and validates {span(folds['validated'])}",
        ),
        ("dropped", f"{count(folds['dropped'], 'preference')} validated in no fold"),
        ("kernel", ", ".join([kernel["name"], *numbers]) + loss),
    ]
    for row in facts["candidates"] if len(facts["candidates"]) > 1 else ():
        rows.append((f"  gamma {row['gamma']:.4g}"[:13], f" minimum {row['minimum']:.6f}"))
    curve = facts["curve"]
    gamma = "" if chosen["gamma"] is None else f", gamma {chosen['gamma']:.6g}"
    if curve["intervals"] is not None:
        best, said = best_lines(curve, chosen["lam"], "preferences left out")
        how = RULE_WORDS[chosen["rule"]].format(chosen["standard_error"])
    else:
        ends = ", ".join(f"{low:.6g} to {high:.6g}" for low, high in curve["best"])
        text = f"{curve['minimum']:.6f} of the preferences left out in the wrong order, at lambda "
        best, said = [("minimum", f"{text}{ends} of a grid")], f"lambda {chosen['lam']:.6g}"
        how = "the largest of these"
    rows += [*best, ("chosen", f"{said}{gamma} ({how}){features_used(facts)}")]
    least = "smallest " * (chosen["rule"] != "one_se")
    text = f"{wrong['held_out']:.6f} held out, the {least}mean over folds"
    if chosen["standard_error"] is not None:
        text += f" (standard error {chosen['standard_error']:.6f})"
    rows.append(("disagreement", text))
    if wrong["by_others"] is not None:
        rows.append(("", f"{wrong['by_others']:.6f} with each fold at the lambda of the others"))
    if wrong["test"] is not None:
        rows.append(("", f"{wrong['test']:.6f} test"))
    if facts["concordance"] is not None:
        said = dict(held_out="held out", by_others="by others", test="test")
        parts = [(said[part], value) for part, value in facts["concordance"].items()]
        text = ", ".join(f"{value:.6f} {part}" for part, value in parts if value is not None)
        rows.append(("concordance", f"{text} (Harrell's, which is 1 - disagreement)"))
    rows.append(("certificate", certificate_line(facts["certificate"])))
    seconds = facts["seconds"]
    compiling = seconds["compiling"]
    text = f"{seconds['all']:.1f} s" + f", {compiling:.1f} s of it compiling" * (compiling >= 0.05)
    rows.append(("time", text))
    return [f"{label:13}{text}" for label, text in rows]


RULE_WORDS = dict(
    widest="middle of the widest interval",
    largest="upper end of the highest interval",
    one_se="largest within a standard error of the best value, {:.6f}",
)
SIZES = ("items", "events", "features", "queries", "groups", "levels")
SHORT = {"ndcg@10": "NDCG@10", "average_precision": "average precision"}


def path_line(facts):
    """Describe the range of the path, its status, and the searched part."""
    path, (low, high) = facts["path"], facts["curve"]["searched"]
    if high is None:
        part = f"; searched above {low:.6g}" if low > path["lam_end"] else ""
    else:
        part = f"from {low:.6g} to {high:.6g}" if low > 0 else f"below {high:.6g}"
        part = f"; searched {part}"
    if path["lam_max"] is None and not facts["curve"]["exact"]:
        whole = f"every lambda > 0, no breakpoints, {path['status']}"
        return f"{whole} (solver {facts['solver']}){part}"
    inner = f" through {path['info']['inner']}" if "inner" in path["info"] else ""
    span = ""
    if path["lam_max"] is not None:
        span = f", lambda {path['lam_max']:.6g} down to {path['lam_end']:.6g}"
    return (
        f"{count(path['breakpoints'], 'breakpoint')}{span}, "
        f"{path['status']} (solver {facts['solver']}{inner}){part}"
    )


LISTED = 5  # number of printed best intervals; the others are counted


def best_lines(curve, lam, what="validation preferences"):
    """Return lines about the minimum of a curve, and the chosen lambda as a text.

    The lines include the interval of the chosen lambda, if there is one. Lambda is rounded to six
    digits, and the ends of its interval to eight, or to as many as show that lambda is inside.
    """
    text, chosen, intervals = f"{lam:.6g}", None, []
    for i, (low, high) in enumerate(curve["best"]):
        here = chosen is None and low < lam and (high is None or lam <= high)
        for digits in (8, 17):
            ends = f"{low:.{digits}g}", "inf" if high is None else f"{high:.{digits}g}"
            if not here or float(ends[0]) < lam < float(ends[1]):
                break
        if here:
            texts = [f"{lam:.{digits}g}" for digits in range(6, 18)]
            inside = (each for each in texts if float(ends[0]) < float(each) < float(ends[1]))
            text, chosen = next(inside, texts[-1]), i
        intervals.append(f"{ends[0]} < lambda" + ("" if high is None else f" < {ends[1]}"))
    metric = curve.get("metric", "disagreement")
    pairs = metric == "disagreement"
    said = f"of the {what} in the wrong order" if pairs else f"{metric} of the validation part"
    minimum = (
        f"{curve['minimum']:.6f} {said}, "
        f"on {len(intervals)} of {count(curve['intervals'], 'interval')}"
        f"{'' if curve['exact'] else ', approximate'}"
    )
    rows = [minimum, *intervals[:LISTED]]
    if chosen is not None and chosen >= LISTED:
        rows.append(f"{intervals[chosen]}, the widest")
    others = len(intervals) - (len(rows) - 1)
    rows += [f"and {others} more"] if others else []
    label = "minimum" if metric in ("disagreement", "error", "log_loss") else "maximum"
    return [("" if i else label, row) for i, row in enumerate(rows)], f"lambda {text}"
