"""Reports of a fit or a selection, as text and JSON."""

import math

import typer

from ...base.tables import printable


def report(facts):
    """Lines of text about a result.

    Parameters
    ----------
    facts : dict
        From :meth:`rankbook.app.select.ModelSelection.summary`, with "compiling" among the seconds.

    Returns
    -------
    list of str
    """
    rows = [
        ("data", _data_line(facts["data"])),
        ("split", _split_line(facts["split"])),
        ("preferences", _preferences_line(facts["preferences"])),
        ("kernel", _kernel_line(facts["kernel"])),
        *_candidate_lines(facts["candidates"]),
        ("path", _path_line(facts)),
        *_best_lines(facts["curve"], facts["chosen"]["lam"]),
        ("chosen", _chosen_line(facts)),
        ("disagreement", _disagreement_line(facts)),
        *_test_lines(facts["test"]),
        ("certificate", _certificate_line(facts["certificate"])),
        ("time", _time_line(facts)),
    ]
    return [f"{label:13}{text}" for label, text in rows]


def _kernel_line(kernel):
    """Name and parameters of the kernel."""
    return ", ".join([kernel["name"], *(f"{k} {v:.6g}" for k, v in kernel.items() if k != "name")])


def _chosen_line(facts):
    """The chosen lambda, and gamma if there is one, and the rule."""
    chosen = facts["chosen"]
    gamma = "" if chosen["gamma"] is None else f", gamma {chosen['gamma']:.6g}"
    how = dict(
        widest="middle of the widest interval",
        largest="upper end of the highest interval",
        one_se="largest within a standard error of the minimum, {:.6f}",
    )[chosen["rule"]].format(chosen["standard_error"])
    return f"lambda {_chosen_text(facts['curve'], chosen['lam'])}{gamma} ({how})"


def _disagreement_line(facts):
    """How wrong the chosen order is, and the AUC if there is one."""
    wrong, area = facts["disagreement"], facts["auc"]
    text = f"{wrong['validation']:.6f} validation, {wrong['test']:.6f} test"
    if area is None:
        return text
    return f"{text}; AUC {area:.6f} test" + (
        "" if facts["data"]["queries"] is None else ", mean over queries"
    )


SHORT = {"ndcg@10": "NDCG@10", "average_precision": "average precision"}


def _test_lines(test):
    """What else is measured on the test part: the top of the list, and level by level."""
    found = [(name, test["metrics"].get(key)) for key, name in SHORT.items()]
    said = ", ".join(f"{name} {value:.6f}" for name, value in found if value is not None)
    lines = [("test", said)] if said else []
    pairs = [
        f"{row['better']:g} > {row['worse']:g} {row['auc']:.4f}"
        for row in test["level_auc"]
        if row["auc"] is not None
    ]
    return lines + ([("AUC", ", ".join(pairs))] if pairs else [])


def _certificate_line(certificate):
    """Primal, dual and gap, and who says so."""
    primal, dual, gap = (certificate[k] for k in ("primal", "dual", "relative_gap"))
    return (
        f"primal {primal:.10g}, dual {dual:.10g}, relative gap {abs(gap):.1e},"
        " computed by rankbook, not by the solver"
    )


def say(text, err=False):
    """Print a text, with escapes for characters that would control the terminal."""
    typer.echo(printable(text), err=err)


def count(number, what):
    """1 item, 2 items, 2 queries."""
    return (
        f"{number} {what}"
        if number == 1
        else f"{number} {what[:-1]}ies"
        if what.endswith("y")
        else f"{number} {what}s"
    )


def _data_line(data):
    """What was read."""
    sizes = [
        count(data[key], word)
        for key, word in (
            ("items", "item"),
            ("features", "feature"),
            ("queries", "query"),
            ("groups", "group"),
            ("levels", "level"),
        )
        if data[key]
    ]
    return f"{data['name']}: {', '.join(sizes)}"


def _split_line(split):
    """Sizes of the parts and how they came about."""
    queries = split["queries"] or {}
    sizes = [
        f"{size} {name}" + (f" ({count(queries[name], 'query')})" if queries else "")
        for name, size in split["items"].items()
    ]
    return (
        f"{', '.join(sizes)}; {split['how']}; "
        f"features {'standardised on train' if split['standardized'] else 'as they are'}"
    )


def _preferences_line(preferences):
    """Preferences of each part."""
    return (
        f"{preferences['train']} train ({preferences['graph']} graph), "
        f"{preferences['validation']} validation, {preferences['test']} test"
    )


def _candidate_lines(candidates):
    """A line for each gamma, if there were several."""
    if len(candidates) == 1:
        return []
    return [
        (
            f"  gamma {row['gamma']:.4g}"[:13].ljust(13),
            f" minimum {row['minimum']:.6f}, widest interval a factor of {row['width']:.4g}; "
            f"{row['breakpoints']} breakpoints, {row['status']}",
        )
        for row in candidates
    ]


def _path_line(facts):
    """How far the path goes, how it ended, and which part was searched if not all."""
    path = facts["path"]
    part = _searched(facts["curve"]["searched"], path["lam_end"])
    if not facts["curve"]["exact"]:
        whole = f"every lambda > 0, no breakpoints, {path['status']}"
        return f"{whole} (solver {facts['solver']}){part}"
    inner = f" through {path['info']['inner']}" if "inner" in path["info"] else ""
    span = (
        ""
        if path["lam_max"] is None
        else f", lambda {path['lam_max']:.6g} down to {path['lam_end']:.6g}"
    )
    return (
        f"{count(path['breakpoints'], 'breakpoint')}{span}, "
        f"{path['status']} (solver {facts['solver']}{inner}){part}"
    )


def _searched(ends, lam_end):
    """The part of a path that was searched, if it is not the whole one."""
    low, high = ends
    if high is None:
        return f"; searched above {low:.6g}" if low > lam_end else ""
    return f"; searched from {low:.6g} to {high:.6g}" if low > 0 else f"; searched below {high:.6g}"


def _time_line(facts):
    """Seconds on the wall clock."""
    seconds, candidates = facts["seconds"], facts["candidates"]
    total = {key: sum(row["seconds"][key] for row in candidates) for key in ("path", "curve")}
    compiling = (
        f", {seconds['compiling']:.1f} s of it compiling" if seconds["compiling"] >= 0.05 else ""
    )
    plural = "paths" if len(candidates) > 1 else "path"
    return (
        f"{plural} {total['path']:.1f} s, "
        f"validation curve{plural[4:]} {total['curve']:.1f} s{compiling}"
    )


LISTED = 5  # best intervals that are printed; the others are counted


def _best_interval(curve, lam):
    """The number of the best interval that holds the chosen lambda, or None."""
    inside = (
        i
        for i, (low, high) in enumerate(curve["best"])
        if low < lam and (high is None or lam <= high)
    )
    return next(inside, None)


def _ends(low, high, lam=None):
    """The ends of an interval as texts of eight digits; None for infinity.

    All digits are given if eight do not show that `lam` is inside.
    """
    for digits in (8, 17):
        ends = f"{low:.{digits}g}", None if high is None else f"{high:.{digits}g}"
        if lam is None or float(ends[0]) < lam and (high is None or lam < float(ends[1])):
            break
    return ends


def _chosen_text(curve, lam):
    """The chosen lambda with six digits, or more where they are needed.

    It has as many as it takes to stand inside of its interval as printed.
    """
    best = _best_interval(curve, lam)
    if best is None:
        return f"{lam:.6g}"
    low, high = (
        math.inf if end is None else float(end) for end in _ends(*curve["best"][best], lam)
    )
    texts = [f"{lam:.{digits}g}" for digits in range(6, 18)]
    return next((text for text in texts if low < float(text) < high), texts[-1])


def _best_lines(curve, lam):
    """The minimum of the validation curve and the intervals that attain it.

    The one of the chosen lambda is among them, if there is one.
    """
    best, chosen = curve["best"], _best_interval(curve, lam)
    lines = [
        (
            "minimum",
            f"{curve['minimum']:.6f} of the validation preferences in the wrong order, "
            f"on {len(best)} of {count(curve['intervals'], 'interval')}"
            f"{'' if curve['exact'] else ', found on a grid'}",
        )
    ]
    ends = [_ends(*interval, lam if i == chosen else None) for i, interval in enumerate(best)]
    lines += [("", _interval_line(*ends[i])) for i in range(min(LISTED, len(best)))]
    if chosen is not None and chosen >= LISTED:
        lines.append(("", f"{_interval_line(*ends[chosen])}, the widest"))
    others = len(best) - (len(lines) - 1)
    return lines + ([("", f"and {others} more")] if others else [])


def _interval_line(low, high):
    """An interval between two texts."""
    return f"{low} < lambda" + ("" if high is None else f" < {high}")
