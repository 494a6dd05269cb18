"""Expected failures of scikit-learn's checks, with the reasons."""

from typing import Any

import sklearn

from ..base.errors import ArgumentError, a_type
from ..estimators.label_ranker import LabelRanker
from ..estimators.online import OnlineEstimator
from ..estimators.ordinal import OrdinalRanker
from ..estimators.rankrls import RankRLSCV
from ..estimators.ranksvm import RankSVM, RankSVMCV
from ..estimators.rayleigh import RayleighRankerCV
from ..estimators.saving import Savable

CV = RankSVMCV | RankRLSCV | RayleighRankerCV
EARLIER = [*map(int, sklearn.__version__.split(".")[:2])] < [1, 8]
FEW_ITEMS, MORE_FEATURES = "check_fit2d_1feature", "check_n_features_in_after_fitting"
WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
SPARSE_WEIGHTS = "check_sample_weight_equivalence_on_sparse_data"
FITS = """
    all_zero_sample_weights_error dict_unchanged dont_overwrite_parameters dtype_object
    estimators_dtypes estimators_fit_returns_self estimators_nan_inf estimators_overwrite_params
    estimators_pickle f_contiguous_array_estimator fit2d_1feature fit2d_1sample fit2d_predict1d
    fit_check_is_fitted fit_idempotent fit_score_takes_y methods_sample_order_invariance
    methods_subset_invariance n_features_in n_features_in_after_fitting pipeline_consistency
    positive_only_tag_during_fit readonly_memmap_input regressor_data_not_an_array regressors_int
    regressors_no_decision_function regressors_train sample_weight_equivalence_on_dense_data
    sample_weights_list sample_weights_not_an_array sample_weights_not_overwritten
    sample_weights_pandas_series sample_weights_shape
""".split()


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Return the scikit-learn checks that an estimator of rankbook does not pass.

    Parameters
    ----------
    estimator : estimator of rankbook

    Returns
    -------
    dict
        A dict from names of checks to reasons, for the argument ``expected_failed_checks`` of
        ``sklearn.utils.estimator_checks.check_estimator``. The corresponding argument of
        ``parametrize_with_checks`` accepts this function.

    Raises
    ------
    TypeError
        If `estimator` is not an estimator of rankbook.

    Examples
    --------
    >>> import rankbook as rb
    >>> from rankbook.testing import expected_failed_checks
    >>> expected_failed_checks(rb.RankSVM(lam=1.0)), list(expected_failed_checks(rb.RankSVM()))
    ({}, ['check_sample_weight_equivalence_on_dense_data'])
    """
    if not isinstance(estimator, Savable):
        raise ArgumentError(
            f"estimator is {a_type(estimator)}", "an instance of a rankbook estimator"
        )
    params = estimator.get_params(deep=False)
    is_name = lambda name, value: isinstance(params.get(name), str) and params[name] == value
    found = {}
    if isinstance(estimator, OrdinalRanker):
        ranker = RankSVM() if estimator.ranker is None else estimator.ranker
        inner = expected_failed_checks(ranker) if isinstance(ranker, Savable) else {}
        found = {name: reason for name, reason in inner.items() if name == WEIGHTS}
    if isinstance(estimator, LabelRanker):
        reason = "the targets of the checks have one column, and a label ranker needs two"
        found = {f"check_{name}": reason for name in FITS}
    if isinstance(estimator, OnlineEstimator):
        reason = "weights change which constraints are drawn, as copies of items do"
        found |= {WEIGHTS: reason, SPARSE_WEIGHTS: reason}
    if params.get("approximate_kernel") is not None or isinstance(params.get("basis"), int):
        found[WEIGHTS] = "copies of items change the items that are chosen as landmarks"
    if is_name("lam", "scale"):
        found[WEIGHTS] = (
            "lam='scale' treats copies of an item as more evidence, and weights as a unit"
        )
    if is_name("graph", "star"):
        found[WEIGHTS] = "copies of items change the representatives of a star graph"
    if isinstance(estimator, RankSVM) and is_name("kernel", "linear"):
        reason = "solved to a relative gap of 1e-6, and compared at 1e-7"
        found |= {SPARSE_WEIGHTS: reason} if is_name("penalty", "l2") else {}
        found |= {WEIGHTS: reason} if is_name("solver", "newton") else {}
    folds = params.get("cv")
    crowded = isinstance(estimator, CV) and isinstance(folds, int) and folds > 2
    few = "too few of the items are of some class for every fold to have two classes"
    if crowded or isinstance(estimator, RayleighRankerCV):
        found[FEW_ITEMS] = few
    if crowded and EARLIER and isinstance(estimator, RayleighRankerCV):
        found[MORE_FEATURES] = few
    return found
