"""Metrics of ranking."""

from .compare import Comparison, Interval, compare, interval
from .concordance_intervals import (
    ConcordanceComparison,
    ConcordanceInterval,
    compare_concordances,
    concordance_interval,
)
from .cuts import best_cuts
from .graded import (
    average_precision,
    err,
    hit_rate_at_k,
    ndcg,
    precision_at_k,
    rank_biased_overlap,
    rank_biased_precision,
    recall_at_k,
    reciprocal_rank,
)
from .incomplete import bpref, infap
from .models import over_blocks
from .pairs import auc, disagreement, kendall_tau, pair_accuracy
from .probabilities import Reliability, brier_score, log_loss, reliability
from .queries import UndefinedMetric, by_query
from .risk_groups import (
    RiskGroups,
    SurvivalCalibration,
    SurvivalCurve,
    risk_groups,
    survival_calibration,
)
from .scorers import scorer
from .survival import concordance, dynamic_auc, survival_brier

__all__ = [
    "Comparison",
    "ConcordanceComparison",
    "ConcordanceInterval",
    "Interval",
    "Reliability",
    "RiskGroups",
    "SurvivalCalibration",
    "SurvivalCurve",
    "UndefinedMetric",
    "auc",
    "average_precision",
    "best_cuts",
    "bpref",
    "brier_score",
    "by_query",
    "compare",
    "compare_concordances",
    "concordance",
    "concordance_interval",
    "disagreement",
    "dynamic_auc",
    "err",
    "hit_rate_at_k",
    "infap",
    "interval",
    "kendall_tau",
    "log_loss",
    "ndcg",
    "over_blocks",
    "pair_accuracy",
    "precision_at_k",
    "rank_biased_overlap",
    "rank_biased_precision",
    "recall_at_k",
    "reciprocal_rank",
    "reliability",
    "risk_groups",
    "scorer",
    "survival_brier",
    "survival_calibration",
]
