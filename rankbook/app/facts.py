"""Facts about a chosen model, for reports."""

import numpy as np

PARAMETERS = {"linear": (), "rbf": ("gamma",), "poly": ("gamma", "degree", "coef0")}


def notes_on(result):
    """What a careful reader should know about a result.

    Parameters
    ----------
    result : ModelSelection

    Returns
    -------
    list of str
        Empty if the path is whole, or goes as deep as doubles hold and as low as was asked for, the
        validation data tell lambdas apart, the solution is optimal to 1e-6, orders more than half
        of them and its predictions confirm the curve.
    """
    path, certificate, notes = result.best.path, result.solution.certificate, []
    if path.status not in ("complete", "lam_min", "rounding"):
        reason = f", {path.info['reason']}" if "reason" in path.info else ""
        notes.append(
            f"The path ended early, at lambda {path.domain[0]:.6g} ({path.status}{reason}); "
            "no smaller lambda was considered."
        )
    start = getattr(path.problem, "lam_max", np.inf)
    if start and result.best.curve.breaks[-1] >= start:
        notes.append(
            f"The path begins at lambda {start:.6g}, below all that were considered; "
            "above it the function changes by a factor only."
        )
    elif np.ptp(result.best.curve.values) == 0 and result.best.curve.minimum < 0.5:
        notes.append(
            "Every lambda orders the validation data equally well, so they are no reason to take "
            "this one; more validation data may tell lambdas apart."
        )
    if result.best.curve.minimum >= 0.5:
        notes.append(
            "No lambda orders the validation data better than chance would (0.5); "
            "another kernel or other features may."
        )
    if not certificate.is_optimal(1e-6):
        notes.append(f"The chosen solution is not optimal to 1e-6: {certificate}.")
    found = result.disagreement["validation"]
    expected = float(result.best.curve.at(result.solution.lam))
    if abs(found - expected) > 1e-9:
        notes.append(
            f"The validation curve promises a disagreement of {expected:.6g} "
            f"at the chosen lambda, and the predictions have {found:.6g}."
        )
    return notes


CERTIFIED = ("lam", "primal", "dual", "gap", "relative_gap", "radius", "norm")
CERTIFIED += ("box_violation", "complementarity_violation")


def summarize(result):
    """All facts about a result as plain Python values.

    Parameters
    ----------
    result : ModelSelection

    Returns
    -------
    dict
        With data, split, method, preferences, kernel, candidates, path, curve, chosen,
        disagreement, auc, test, certificate, solver, seconds and notes. The upper end of an
        interval of lambda is None where it is infinite.
    """
    best, settings = result.best, result.settings
    certificate = result.solution.certificate
    return dict(
        data=_data_facts(result.data),
        split=_split_facts(result.parts, settings, result.data.qid is not None),
        method=settings["method"],
        preferences=dict(graph=settings["graph"])
        | {name: len(part.prefs) for name, part in result.parts.items()},
        kernel=_kernel_facts(best),
        candidates=result.candidates,
        path=_path_facts(best.path),
        curve=_curve_facts(best.curve),
        chosen=dict(
            lam=result.solution.lam,
            rule=settings["rule"],
            standard_error=settings["error"],
            gamma=best.gamma,
        ),
        disagreement=result.disagreement,
        auc=result.auc,
        test=result.test,
        certificate={name: float(getattr(certificate, name)) for name in CERTIFIED},
        solver=result.solution.solver,
        seconds=best.seconds,
        notes=result.notes,
    )


def _data_facts(data):
    """Name and sizes of a data set."""
    queries, groups = (
        None if ids is None else int(np.unique(ids).size) for ids in (data.qid, data.groups)
    )
    return dict(
        name=data.name,
        items=len(data.y),
        features=data.X.shape[1],
        levels=int(np.unique(data.y).size),
        queries=queries,
        groups=groups,
    )


def _kernel_facts(candidate):
    """Name and parameters of the kernel of a candidate."""
    kernel = candidate.path.problem.kernel
    return dict(name=kernel.name) | {
        name: getattr(candidate if name == "gamma" else kernel, name)
        for name in PARAMETERS.get(kernel.name, ())
    }


def _split_facts(parts, settings, has_queries):
    """Sizes of the parts and how they came about."""
    queries = {name: part.prefs.n_queries for name, part in parts.items()}
    return dict(
        how=settings["how"],
        seed=settings["seed"],
        standardized=settings["standardize"],
        items={name: len(part.y) for name, part in parts.items()},
        queries=queries if has_queries else None,
    )


def _path_facts(path):
    """How far a path goes and how it ended."""
    return dict(
        status=path.status,
        breakpoints=int(path.breakpoints.size),
        lam_max=float(path.breakpoints[0]) if path.breakpoints.size else None,
        lam_end=path.domain[0],
        info=path.info,
    )


def _curve_facts(curve):
    """The lambdas that were searched, the minimum of the curve and where it is attained."""
    searched, *best = (
        [float(low), float(high) if np.isfinite(high) else None]
        for low, high in ((curve.breaks[-1], curve.breaks[0]), *curve.best)
    )
    return dict(
        searched=searched,
        intervals=int(curve.values.size),
        minimum=curve.minimum,
        best=best,
        exact=curve.exact,
    )


def _headline(result):
    """Two lines over the picture: what was learnt from what, and how good it is."""
    train, wrong = result.parts["train"], result.disagreement
    kernel = result.best.path.problem.kernel.name + (
        f" kernel, gamma = {result.best.gamma:.3g}" if result.best.gamma else " kernel"
    )
    gap = max(abs(result.solution.certificate.relative_gap), 1e-16)  # below that it is rounding
    name = result.data.name if len(result.data.name) <= 40 else result.data.name[:39] + "…"
    return (
        f"{name}: {train.y.size} training items, {len(train.prefs)} preferences, {kernel}\n"
        f"in the wrong order: {wrong['validation']:.2%} of validation, "
        f"{wrong['test']:.2%} of test preferences; relative gap {gap:.0e}"
    )


def draw(result):
    """The path, the validation curve and, where there is one, the ROC curve of the test part.

    The path is drawn if it has breakpoints, the ROC curve for two levels without queries.

    Parameters
    ----------
    result : ModelSelection

    Returns
    -------
    matplotlib Figure
        Made without pyplot, so that no window opens.
    """
    from matplotlib.figure import Figure

    from rankbook.plots.curve import plot_validation_curve
    from rankbook.plots.items import plot_roc
    from rankbook.plots.sets import plot_sets

    with_path = result.best.path.breakpoints.size > 0
    with_roc = result.auc is not None and result.data.qid is None
    heights = [2.4] * with_path + [2.7] + [3.2] * with_roc
    figure = Figure(figsize=(6, sum(heights) + 0.5), layout="constrained")
    places = iter(figure.add_gridspec(len(heights), height_ratios=heights))
    above = figure.add_subplot(next(places)) if with_path else None
    if with_path:
        plot_sets(result.best.path, above)
        above.set(xlabel="", ylabel="training preferences")
        above.tick_params(labelbottom=False)
    below = figure.add_subplot(next(places), sharex=above)
    plot_validation_curve(result.best.curve, below, result.solution.lam)
    below.set_ylabel("validation disagreement")
    if with_roc:
        test = result.parts["test"]
        roc = plot_roc(test.y, result.solution.predict(test.X), figure.add_subplot(next(places)))
        roc.set_title(f"test part, {test.y.size} items", fontsize="medium")
    figure.suptitle(_headline(result), fontsize="small", x=0.01, ha="left")
    return figure
