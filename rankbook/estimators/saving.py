"""Files of models, and loading of models and paths."""

from __future__ import annotations

import os
from dataclasses import fields
from functools import partial
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.errors import ArgumentError, a_type
from ..base.estimator import BaseEstimator
from ..base.files import (
    VERSION,
    Storable,
    Unstorable,
    ValueReader,
    as_path,
    open_archive,
    read_archive,
    save_values,
)
from ..base.tables import as_html, printable
from ..base.types import File
from ..base.validation import as_flag
from ..data.encoding import Encoding
from ..kernels.kernel import Kernel
from ..kernels.linear_map import KernelFunction, LinearFunction
from ..kernels.nystroem import NystroemFunction, NystroemMap
from ..metrics.probabilities import Sigmoid
from ..paths.exact import LabelPath, RegularizationPath
from ..paths.files import KIND as PATH_KIND
from ..paths.files import (
    are_indices,
    check_said,
    demand,
    demand_finite,
    kernel_parts,
    storables,
)
from ..paths.spectral import ManifoldPath, SpectralPath, WeightPath
from ..problems.certificate import Certificate
from ..problems.rayleigh import ClassPosterior
from ..registry.plugins import HOME, find_record, get_solver
from ..registry.solver import Solver, solver_options
from ..selection.curve import ValidationCurve
from .calibration import Isotonic

KIND, SCALED_KIND = "rankbook model", "rankbook scaled model"
KINDS = (KIND, SCALED_KIND, PATH_KIND)
UNREAD = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    RecursionError,
)  # of wrong files
LEFT_OUT = ("solution_", "statistics_")  # data, or sums of data, for further learning
LEFT_OUT += ("table_", "pair_table_")  # of a leaderboard, which are made again
PATHS = {
    kind.form: kind
    for kind in (RegularizationPath, LabelPath, SpectralPath, WeightPath, ManifoldPath)
}
SOLVERS = (
    "epsilon",
    "homotopy",
    "newton",
    "simplex",
    "sparse",
)  # solvers of rankbook that restore a path


def _linear_function(weights):
    demand_finite("weights", weights)
    demand(
        weights.dtype.kind == "f" and weights.ndim in (1, 2), "weights are not a vector or a matrix"
    )
    return LinearFunction(weights)


def _kernel_function(**parts):
    function = KernelFunction(**parts)
    count, items = len(function.coef), function.items
    demand(function.support.shape == (count,), "support and coef differ in length")
    place = function.support if function.columns is None else function.columns
    demand(are_indices(place, function.n_items), "support is outside the items")
    demand(isinstance(function.kernel, Kernel), "kernel is none")
    demand((items is None) == (function.kernel.name == "precomputed"), "items")
    fits = items is None or (
        items.ndim == 2 and items.shape[0] == count and items.dtype.kind == "f"
    )
    demand(fits, "items are not floats, or not as many as coef")
    for name in ("coef", "items"):
        if (value := getattr(function, name)) is not None:
            demand_finite(name, value)
    return function


def _nystroem_function(subspace, weights):
    demand(isinstance(subspace, NystroemMap), "subspace is none")
    demand(len(weights) == subspace.factor.shape[1], "weights and subspace differ")
    demand_finite("weights", weights)
    return NystroemFunction(subspace, weights)


def _certificate(**parts):
    """Check that the parts of a certificate are numbers; a quotient may be None."""
    for name, value in parts.items():
        is_unknown = value is None and name.startswith("quotient")
        demand(is_unknown or isinstance(value, Real), f"{name} is {value!r}")
    return Certificate(**parts)


def _posterior(**parts):
    p = parts["means"].shape[1]
    shapes = dict(means=(2, p), covariances=(2, p, p), priors=(2,))
    demand(all(parts[name].shape == shape for name, shape in shapes.items()), "posterior_")
    for name in shapes:
        demand_finite(name, parts[name])
    return ClassPosterior(**parts)


def _sigmoid(slope):
    demand(isinstance(slope, float) and 0 <= slope < float("inf"), f"slope is {slope!r}")
    return Sigmoid(slope)


def _isotonic(differences, probabilities):
    both = (differences, probabilities)
    demand(all(v.ndim == 1 and v.dtype.kind == "f" for v in both), "calibration_ has no vectors")
    demand(differences.size == probabilities.size, "calibration_ has vectors of two lengths")
    rise = np.diff(np.r_[0.0, differences]), np.diff(np.r_[0.5, probabilities, 1.0])
    demand((rise[0] > 0).all() and (rise[1] >= 0).all(), "calibration_ does not increase")
    return Isotonic(differences, probabilities)


def _storables():
    """Return how a file stores the parts of models, by their names in the file."""
    fields_of = lambda value: {field.name: getattr(value, field.name) for field in fields(value)}
    makers = {
        Certificate: _certificate,
        ClassPosterior: _posterior,
        Encoding: Encoding,
        Isotonic: _isotonic,
        KernelFunction: _kernel_function,
        LinearFunction: _linear_function,
        NystroemFunction: _nystroem_function,
        Sigmoid: _sigmoid,
        ValidationCurve: ValidationCurve,
    }
    return storables() | {
        kind.__name__: Storable(kind, fields_of, made) for kind, made in makers.items()
    }


def named_solver(solver):
    """Convert a solver to its name, or its name and a dict of options, for a file.

    Raises
    ------
    Unstorable
        If the solver is not in the registry, or does not keep its options.
    """
    if isinstance(solver, str):
        return solver
    named = lambda value: named_solver(value) if isinstance(value, Solver) else value  # an option
    if isinstance(solver, tuple):
        return named_solver(solver[0]), {k: named(v) for k, v in solver[1].items()}
    cls = solver if isinstance(solver, type) else type(solver)
    name = getattr(cls, "name", None)
    try:
        known = isinstance(name, str) and find_record(name).load() is cls
    except (ValueError, ImportError):
        known = False
    if not known:
        raise Unstorable(
            f"solver is {cls.__name__}, which no file can name, and it is not registered. "
            "Pass a registered one, see rankbook.register_solver"
        )
    if cls is solver:
        return name
    defaults, missing = solver_options(cls)[0], object()
    options = {k: getattr(solver, k, missing) for k in defaults}
    lost = [k for k, value in options.items() if value is missing]
    if lost:
        raise Unstorable(
            f"solver is {a_type(solver)} that does not keep its option {lost[0]!r}. "
            f"Pass solver=({name!r}, dict(...))"
        )
    is_default = lambda v, d: v is d or (type(v) is type(d) and bool(np.all(v == d)))
    given = {k: named(v) for k, v in options.items() if not is_default(v, defaults[k])}
    return (name, given) if given else name


def model_parts(model):
    """Return the parameters of an estimator and, if fitted, the attributes for predictions."""
    params = model.get_params(deep=False)
    if callable(params.get("kernel")):
        kernel_parts(Kernel(params["kernel"]))  # raises an error for wrong parameters
    if "solver" in params:
        params["solver"] = named_solver(params["solver"])
    state = model.__getstate__()
    names = [name for name in state if name.endswith("_") and not name.startswith("_")]
    return dict(params=params, fitted={k: state[k] for k in names if k not in LEFT_OUT})


class Savable(BaseEstimator):
    """Base class of estimators that can be saved."""

    if TYPE_CHECKING:  # scikit-learn creates these methods

        def set_fit_request(self, **requests: bool | str | None) -> Self:
            return self

        set_partial_fit_request = set_score_request = set_fit_request

    def save(self, file: File) -> None:
        """Write the fitted estimator to a file, without its training data.

        Parameters
        ----------
        file : str or path
            The usual ending is ``.rankbook``. An existing file is replaced only when the new one is
            complete.

        Raises
        ------
        NotFittedError
        ValueError
            If a parameter is a function or another value that cannot be stored in a file.
        OSError
            If the file cannot be written.

        Notes
        -----
        The file contains arrays and JSON, and takes about 5000 bytes more than the arrays.
        :func:`rankbook.load` reads it and runs no code from it. The file contains neither the
        training data nor the preferences and their names that you passed to `fit`; the file of a
        path contains both. It also omits two settings that joblib and pickles keep:
        ``set_output``, and the metadata requests of ``set_fit_request`` and similar methods.

        The file of a ranker inside a scikit-learn pipeline leaves out the steps before it, such as
        the scaling, and the loaded ranker expects features that they have transformed.
        ``joblib.dump`` of the pipeline keeps all steps.

        Examples
        --------
        >>> import os, tempfile, rankbook as rb
        >>> model = rb.RankSVM(kernel="linear").fit([[0.0], [1.0], [3.0]], [0, 1, 2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/m.rankbook")
        ...     os.listdir(folder)
        ['m.rankbook']
        """
        check_is_fitted(self)
        save_model(file, KIND, self)


def save_model(file, kind, model, **more):
    """Write a file of some kind with a model and `more` values.

    Raises the errors of :meth:`Savable.save`.
    """
    kinds, package = _storables(), __name__.rpartition(".")[0] + "."
    if hasattr(model, "errors_"):
        kinds |= board_errors()
    for kept in (model, *vars(model).values()):  # an estimator may contain another
        cls = type(kept)
        if isinstance(kept, Savable) and cls.__module__.startswith(package):
            kinds[cls.__name__] = Storable(cls, model_parts, None)
    try:
        save_values(file, kind, kinds, dict(model=model, **more))
    except Unstorable as error:
        said = str(error).replace("model.params.", "").replace("model.fitted.", "")
        name = said.split(" ")[0]
        if ". Pass " not in said and (name == "model" or name.endswith("_") or "ranker" in name):
            said += ". Pass an estimator of rankbook; joblib or a pickle keeps others"
        elif ". Pass " not in said:
            said += (
                ". Pass numbers, text, arrays, and lists, tuples and dicts of them. "
                f"set_params({name.partition('.')[0]}=...) changes a parameter of a fitted model, "
                "and joblib or a pickle keeps what can be imported"
            )
        raise ValueError(f"{said}.") from None


def board_errors():
    """Return how a file stores the errors of a leaderboard."""

    def made(cls, **parts):
        found = cls(**parts)
        values = next(iter(parts.values()))
        demand(isinstance(values, np.ndarray) and values.ndim == 2, "errors_ is not a matrix")
        demand_finite("errors_", values)
        demand(getattr(found, "df", 1.0) > 0, "df")
        demand(found.name in ("laplace", "sandwich", "bootstrap"), "name")
        return found

    parts_of = lambda value: {field.name: getattr(value, field.name) for field in fields(value)}
    classes = {name: _estimator("score_errors", name) for name in ("NormalErrors", "DrawnErrors")}
    return {name: Storable(cls, parts_of, partial(made, cls)) for name, cls in classes.items()}


def check_board(fitted):
    """Raise a ValueError unless the parts of a leaderboard fit together."""
    n, k = len(fitted["items_"]), fitted["pair_coef_"].size
    demand(all(isinstance(name, str) for name in fitted["items_"]), "items_")
    demand(len(set(fitted["items_"])) == n, "items_ has an item twice")
    for name in ("score_", "group_", "compared_"):
        demand(fitted[name].shape == (n,), f"{name} has shape {fitted[name].shape}")
    for name in ("score_", "compared_", "pair_coef_", "pair_scale_"):
        demand_finite(name, fitted[name])
    demand(are_indices(fitted["group_"], n), "group_")
    demand(are_indices(fitted["chosen_"], n), "chosen_ is outside the items")
    demand(fitted["pair_scale_"].shape == (k,) and len(fitted["features_"]) == k, "features_")
    demand(all(isinstance(text, str) for text in fitted["notes_"]), "notes_")
    errors, q = fitted["errors_"], fitted["chosen_"].size
    demand(hasattr(errors, "law") if errors is not None else q == 0, "errors_")
    reach, ends = fitted["reach_"], fitted["rank_ends_"]
    demand((errors is None) == (reach is None), "errors_ and reach_ differ")
    if errors is not None:
        demand(errors.size == q + k, "errors_ and chosen_ differ")
        demand(reach.shape == (q + k,), f"reach_ has shape {reach.shape}")
        demand_finite("reach_", reach)
    demand(ends is None or (ends.shape == (2, q) and ends.dtype.kind == "i"), "rank_ends_")
    for name in ("lam_", "phi_"):
        demand(isinstance(fitted[name], Real), f"{name} is {fitted[name]!r}")
    tie, board = fitted.get("tie_", 1.0), _estimator("leaderboard", "Leaderboard")
    demand(isinstance(tie, float) and 0 < tie < float("inf"), f"tie_ is {tie!r}")
    demand(set(fitted["settings_"]) == set(_estimator("leaderboard", "SETTINGS")), "settings_")
    board(**fitted["settings_"])._check()
    for key, each in fitted.get("tables_", {}).items():
        is_named = isinstance(key, tuple) and [type(part) for part in key] == [str, str]
        demand(is_named and isinstance(each, board) and hasattr(each, "table_"), "tables_")


def _estimator(module, name):
    """Return a class of rankbook.estimators; its modules import this one."""
    return getattr(import_module(f"{__package__}.{module}"), name)


def model_classes():
    """Return the estimators that a file can name, a dict from names to classes."""
    homes = dict(RankSVM="ranksvm", RankSVMCV="ranksvm", RankRLS="rankrls")
    homes |= dict(RankRLSCV="rankrls", RayleighRanker="rayleigh", RayleighRankerCV="rayleigh")
    homes |= dict(OnlineRankSVM="online", OnlineSVC="online")
    homes |= dict(Leaderboard="leaderboard")
    homes |= dict(LabelRanker="label_ranker", LabelRankerCV="label_ranker", OrdinalRanker="ordinal")
    return {name: _estimator(module, name) for name, module in homes.items()}


def made_model(cls, params, fitted):
    """Restore an estimator from its parameters and fitted attributes, or raise a ValueError."""
    model = cls(**params)
    for name in fitted:
        public = name.isidentifier() and name.endswith("_") and not name.startswith("_")
        demand(public, f"{name!r} is not an attribute of a fitted model")
    if fitted:
        check_fitted(model, fitted)
        if "certificate_" in fitted:  # files of version 0.1 lack lam_
            fitted = dict(lam_=fitted["certificate_"].lam) | fitted
        vars(model).update(fitted)
        if "compared_" in fitted:
            model._tabulate()
        as_html(getattr(model, "_facts", lambda: [[]])())  # raises if a displayed fact is not text
    return model


def check_fitted(model, fitted):
    """Raise a ValueError unless the fitted attributes suffice for predictions."""
    link = fitted.get("calibration_", Sigmoid())
    demand(isinstance(link, Sigmoid | Isotonic), "calibration_ is none")
    for name in ("coef_", "intercept_", "cuts_", "pair_coef_", "pair_scale_"):
        if name in fitted:
            demand_finite(name, np.asarray(fitted[name]))
    if "compared_" in fitted:
        return check_board(fitted)
    if "ranker_" in fitted:
        counts = fitted["classes_"].size, fitted["cuts_"].size
        demand(hasattr(fitted["ranker_"], "predict"), "ranker_ is none")
        return demand(counts[0] == counts[1] + 1, f"{counts[0]} classes and {counts[1]} cuts")
    d = fitted["n_features_in_"]
    demand(type(d) is int and d > 0, f"n_features_in_ is {d!r}")
    names = fitted.get("feature_names_in_", np.zeros(d, dtype=object))
    demand(isinstance(names, np.ndarray) and names.shape == (d,), "feature_names_in_")
    if hasattr(model, "partial_fit") and "function_" not in fitted:  # it learns online
        coef, classes = fitted["coef_"], fitted.get("classes_", (0, 1))
        demand("classes_" in fitted or not hasattr(model, "decision_function"), "classes_")
        rows = () if len(classes) == 2 else (len(classes),)
        demand(len(classes) > 1 and coef.shape == (*rows, d), f"coef_ has shape {coef.shape}")
        shape = np.shape(fitted.get("intercept_", np.zeros(rows)))
        demand(shape == rows, f"intercept_ has shape {shape}")
        return
    demand(hasattr(fitted["function_"], "predict"), "function_ is none")
    if isinstance(fitted["function_"], LinearFunction):
        weights = fitted["function_"].weights
        demand(len(weights) == d, f"function_ has other than {d} weights")
        demand(np.array_equal(fitted["coef_"], weights), "coef_ differs from function_")
    demand(isinstance(fitted["certificate_"], Certificate), "certificate_ is none")
    if hasattr(model, "predict_proba"):
        demand(isinstance(fitted.get("posterior_"), ClassPosterior), "posterior_ is none")


def _path(allow_plugins, problem, form, solver, tol, go_on=None, **parts):
    """Restore the path of a file, ready to be resumed if the file allows it."""
    facts = {name: parts.pop(name) for name in ("status", "lam_end", "info")}
    check_said(**facts, solver=solver, tol=tol)
    maker = get_solver(form) if form in SOLVERS else PATHS[form]
    path = maker.stored(problem, facts, **parts)
    path.solver, path.tol = solver, tol
    if go_on is None:
        return path
    name = solver.split()[0]
    try:
        if not allow_plugins and find_record(name).origin != HOME:
            raise ValueError(f"the solver {name!r} is a plugin. Load it with allow_plugins=True")
        restore = get_solver(name).restore
    except (ValueError, ImportError) as error:
        path.info["reason"] = str(error)
    else:
        restore(path, go_on)
    return path


def load(file: File, *, allow_plugins: bool = False) -> Any:
    """Load a model or path from a file written by its method ``save``.

    Parameters
    ----------
    file : str or path
    allow_plugins : bool, default False
        Whether to import the solver of a path that can be resumed, if the file names one that is
        not rankbook's own. Otherwise such a path can be read but not resumed.

    Returns
    -------
    SolutionPath or estimator
        An object of the saved class. A loaded model has the parameters and fitted attributes of the
        saved one, except ``solution_``, and predicts the same scores to the last bit. You can
        resume a loaded :class:`rankbook.RegularizationPath` if the saved path could be resumed and
        its solver is one of rankbook's, or is installed and allowed.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
    ValueError
        If the file was not written by rankbook, is truncated or altered, was written by a later
        version, or has inconsistent contents.

    Notes
    -----
    Loading takes no more memory than the size of the file, even if its header is wrong, and runs no
    code from it.

    Examples
    --------
    >>> import tempfile, rankbook as rb
    >>> model = rb.RankSVM(kernel="linear").fit([[0.0], [1.0], [3.0]], [0, 1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/m.rankbook")
    ...     again = rb.load(f"{folder}/m.rankbook")
    >>> bool((again.predict([[2.0]]) == model.predict([[2.0]])).all())
    True
    """
    allow_plugins = as_flag("allow_plugins", allow_plugins)
    kind, facts, arrays = read_archive(as_path(file), KINDS)
    try:
        models = {
            name: Storable(cls, model_parts, partial(made_model, cls))
            for name, cls in model_classes().items()
        }
        reader = ValueReader(_storables() | board_errors() | models, arrays)
        values = {name: reader.read(value) for name, value in facts["values"].items()}
        if kind == PATH_KIND:
            return _path(allow_plugins, **values)
        if kind == SCALED_KIND:
            return _estimator("scaled", "ScaledModel")(**values)
        (model,) = values.values()
        demand(isinstance(model, Savable), "model is none")
        check_is_fitted(model)
        return model
    except (*UNREAD, ArithmeticError) as error:
        what = printable(f"{error} is missing" if isinstance(error, KeyError) else str(error))
        raise ArgumentError(
            f"file is {str(file)!r}, a {kind} whose parts do not fit together: {what}",
            "a file that rankbook wrote",
        ) from error


def shown_value(written):
    """Convert a stored value to plain JSON for people; arrays and objects become texts."""
    match written:
        case list(items) | {"$tuple": list(items)}:
            return [shown_value(item) for item in items]
        case {"$dict": pairs}:
            return {str(shown_value(key)): shown_value(value) for key, value in pairs}
        case {"$number": [_, value]}:
            return shown_value(value)
        case {"$float": text} | {"$array": {"text": text}}:
            return text
        case {"$object": name, "parts": parts}:
            parts = {key: shown_value(part) for key, part in parts}
            return {"class": name, **parts["params"]} if "params" in parts else parts
        case {"$array": _}:
            return "an array"
        case dict():
            return "a generator" if "$random" in written else "as above"
    return written


SHOWN = ("solver_", "n_features_in_", "feature_names_in_", "classes_", "lam_", "gamma_")
SHOWN += ("certificate_", "exact_certificate_", "calibration_")


def _weights(about, arrays):
    """Return name and weight of each feature of a linear model, as facts."""
    names = ("model.fitted.function_.weights", "model.fitted.coef_")
    coef = next((arrays[name] for name in names if name in arrays), np.empty(0))
    if coef.shape != (about.get("n_features_in"),) or not np.isfinite(coef).all():
        return {}
    names = about.get("columns") or about.get("feature_names_in")
    if encoding := about.get("encoding"):
        names = Encoding(tuple(encoding["columns"]), encoding["categories"], {}).names
    names = names or [f"x{j}" for j in range(coef.size)]
    rows = zip(names, coef.tolist(), strict=True)
    found = dict(weights=[dict(name=name, weight=weight) for name, weight in rows])
    return found | dict(standardized=bool((arrays.get("factor", np.ones(1)) != 1).any()))


def file_facts(file: File) -> dict[str, Any]:
    """Return the facts in a file of rankbook as plain values, ready for JSON.

    The model or path is not restored, so the function is safe and fast for any file and needs no
    solver.

    Parameters
    ----------
    file : str or path

    Returns
    -------
    dict
        "file", "kind", "version", "readable" (whether :func:`load` understands kind and version),
        "bytes", "written_by" and "arrays" (shape and dtype of each). For a model also "class",
        "parameters", "solver", "certificate" and other facts. "weights" of a linear model is a list
        with a "name" and a "weight" for each feature (standardized if "standardized" is true), and
        "pair_weights" lists the weights of pair features. For a path "status", "solver", "problem"
        and "info".

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
    ValueError
        As :func:`load`.
    """
    header, arrays = open_archive(as_path(file))
    kind, version, facts = header["kind"], header["version"], header["facts"]
    about = dict(file=str(file), kind=kind, version=version, bytes=os.stat(file).st_size)
    about["readable"] = kind in KINDS and version == VERSION
    about |= {name: facts[name] for name in ("written_by",) if name in facts}
    try:
        values = facts["values"] if about["readable"] else {}
        if kind == PATH_KIND:
            shown = {name: shown_value(values[name]) for name in ("status", "solver", "info")}
            parts = shown_value(values["problem"])
            names = ("kernel", "gamma", "degree", "coef0", "penalty", "loss", "manifold_weight")
            about |= shown | dict(problem={k: parts[k] for k in names if k in parts})
        elif values:
            model = dict(values["model"]["parts"])
            fitted, params = dict(shown_value(model["fitted"])), shown_value(model["params"])
            about |= {"class": values["model"]["$object"], "parameters": params}
            about |= {name.rstrip("_"): fitted[name] for name in SHOWN if name in fitted}
            about |= {name: shown_value(v) for name, v in values.items() if name != "model"}
            if "nystroem_map_" not in fitted:
                about |= _weights(about, arrays)
                if (theta := arrays.get("model.fitted.pair_coef_")) is not None:
                    about["pair_weights"] = theta.tolist()
    except UNREAD as error:
        raise ArgumentError(
            f"file is {str(file)!r}, a {kind} that cannot be read: {error}",
            "a file that rankbook wrote",
        ) from error
    shapes = {name: f"{a.dtype}{list(a.shape)}" for name, a in sorted(arrays.items())}
    return about | dict(arrays=shapes)
