"""scikit-learn's checks that an estimator cannot pass, each with the reason."""

from typing import Any

from ..base.errors import ArgumentError
from ..base.types import is_text
from ..estimators.label_ranker import LabelRanker
from ..estimators.online import OnlineEstimator
from ..estimators.rankrls import RankRLSCV
from ..estimators.ranksvm import RankSVM, RankSVMCV
from ..estimators.rayleigh import RayleighRankerCV
