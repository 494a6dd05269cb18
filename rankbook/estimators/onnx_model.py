"""Linear and kernel models in the format ONNX, for scoring by other runtimes."""

import json
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..base.errors import ArgumentError, a_type
from ..base.limits import import_extra
from ..kernels.linear_map import KernelFunction, LinearFunction
from ..kernels.nystroem import NystroemFunction
from .base import Ranker
from .linear_json import affine
from .scaled import ScaledModel

OPSET = 13  # version of the operators, which every runtime since 2021 has


def scaled_ranker(model):
    """Ranker of a pipeline, search or command-line model, with its scaling and feature names.

    The scaling is a list of factors and shifts (d,), in order; the names of raw features may be
    None.
    """
    model = getattr(model, "best_estimator_", model)
    if isinstance(model, Pipeline):
        ranker, scaling, names = scaled_ranker(model[-1])
        steps = [affine(step, model.n_features_in_) for _, step in model.steps[:-1]]
        return ranker, steps + scaling, getattr(model, "feature_names_in_", names)
    if isinstance(model, ScaledModel):
        if model.encoding is not None:
            raise ArgumentError(
                "model encodes text or gaps of a table",
                "a model that was fitted to numbers without gaps",
            )
        ranker, scaling, names = scaled_ranker(model.model)
        scaling = [(model.factor, -model.factor * model.centre), *scaling]
        return ranker, scaling, model.columns or names
    if not isinstance(model, Ranker):
        raise ArgumentError(
            f"model is {a_type(model)}", "a ranker, or a pipeline or search that ends in one"
        )
    check_is_fitted(model)
    return model, [], getattr(model, "feature_names_in_", None)


class Graph:
    """Nodes and constants of an ONNX graph; each method adds a node and returns its name."""

    def __init__(self, helper, numpy_helper):
        self.helper, self.numpy_helper, self.nodes, self.constants = helper, numpy_helper, [], []

    def constant(self, value):
        """Add an array of doubles."""
        name = f"c{len(self.constants)}"
        value = np.ascontiguousarray(value, dtype=np.float64)
        self.constants.append(self.numpy_helper.from_array(value, name))
        return name

    def __call__(self, operator, *inputs, **options):
        """Add a node whose inputs are names or arrays."""
        named = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        self.nodes.append(
            self.helper.make_node(operator, named, [f"n{len(self.nodes)}"], **options)
        )
        return f"n{len(self.nodes) - 1}"


def kernel_values(graph, kernel, x, items):
    """The kernel (n, s) between rows x and items (s, d)."""
    gamma = 1.0 / items.shape[1] if kernel.gamma is None else kernel.gamma
    if kernel.name == "rbf":  # of rows from the mean of the items, so that squares keep digits
        centre = items.mean(axis=0)
        items, x = items - centre, graph("Sub", x, centre)
        products = graph("MatMul", x, 2.0 * items.T)
        own = graph("ReduceSumSquare", x, axes=[1], keepdims=1)
        far = graph("Sub", graph("Add", own, np.sum(items**2, axis=1)), products)
        return graph("Exp", graph("Mul", graph("Relu", far), np.array(-gamma)))
    products = graph("MatMul", x, items.T)
    if kernel.name == "linear":
        return products
    if kernel.name != "poly":
        raise ArgumentError(
            f"model has the kernel {kernel!r}", "a model with the kernel 'linear', 'poly' or 'rbf'"
        )
    scaled = graph("Add", graph("Mul", products, np.array(gamma)), np.array(float(kernel.coef0)))
    return graph("Pow", scaled, np.array(float(kernel.degree)))


def to_onnx(model: Any) -> bytes:
    """Export a linear or kernel ranker in the format ONNX, for scoring by other runtimes.

    Parameters
    ----------
    model : estimator
        A fitted ranker with a kernel "linear", "rbf" or "poly", exact or with
        `approximate_kernel`; a search or pipeline that ends in one and whose other steps are
        StandardScaler, MinMaxScaler, MaxAbsScaler or RobustScaler; or a model of the command line
        without encoded columns.

    Returns
    -------
    bytes
        A file with the input "X" (n, d) and the output "scores" (n, 1) or (n, k), both of doubles.
        Scores equal ``predict`` up to rounding; scores of an exact kernel may differ by a constant.
        The metadata "features" is a JSON list of the names of the columns of X, if they have names.

    Raises
    ------
    ImportError
        If the package onnx is not installed: ``pip install "rankbook[onnx]"``.
    ValueError, TypeError
        If `model` is something else.

    Examples
    --------
    >>> import rankbook as rb
    >>> model = rb.RankSVM(kernel="linear").fit([[0.0], [1.0], [3.0]], [0, 1, 2])
    >>> file = rb.to_onnx(model)  # doctest: +SKIP
    """
    ranker, scaling, names = scaled_ranker(model)
    onnx = import_extra("onnx", "onnx", "to_onnx")
    graph, function, x = Graph(onnx.helper, onnx.numpy_helper), ranker.function_, "X"
    for factor, shift in scaling:
        x = graph("Add", graph("Mul", x, factor), shift)
    if isinstance(function, LinearFunction):
        weights = function.weights
    elif isinstance(function, NystroemFunction):
        space = function.subspace
        x = kernel_values(graph, space.kernel, x, space.landmarks)
        weights = space.expansion(function.weights)
    elif isinstance(function, KernelFunction) and function.items is not None:
        x, weights = kernel_values(graph, function.kernel, x, function.items), function.coef
    else:
        raise ArgumentError(
            f"model has the function {a_type(function)}",
            "a model with a linear function or a function of a kernel",
        )
    weights = weights.reshape(len(weights), -1)
    graph("MatMul", x, weights)
    graph.nodes[-1].output[0] = "scores"
    double, columns = onnx.TensorProto.DOUBLE, weights.shape[1]
    ends = [
        [onnx.helper.make_tensor_value_info(name, double, [None, width])]
        for name, width in (("X", ranker.n_features_in_), ("scores", columns))
    ]
    made = onnx.helper.make_graph(graph.nodes, "rankbook", *ends, graph.constants)
    opset = [onnx.helper.make_opsetid("", OPSET)]
    file = onnx.helper.make_model(made, opset_imports=opset, producer_name="rankbook", ir_version=8)
    if names is not None:
        text = json.dumps([str(name) for name in names], ensure_ascii=False)
        onnx.helper.set_model_props(file, dict(features=text))
    onnx.checker.check_model(file)
    return file.SerializeToString()
