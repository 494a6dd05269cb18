"""Metrics of ranking."""




from .blocks import over_blocks
from .cascade import err, reciprocal_rank
from .compare import Comparison, Interval, compare, interval
from .cutoff import precision_at_k, recall_at_k
from .cuts import best_cuts
from .graded import average_precision, ndcg
from .kendall import kendall_tau
from .pairs import auc, disagreement, pair_accuracy
from .queries import UndefinedMetric, by_query
from .scorers import scorer

__all__ = [
    "Comparison",
    "Interval",
    "UndefinedMetric",
    "auc",
    "average_precision",
    "best_cuts",
    "by_query",
    "compare",
    "disagreement",
    "err",
    "interval",
    "kendall_tau",
    "ndcg",
    "over_blocks",
    "pair_accuracy",
    "precision_at_k",
    "recall_at_k",
    "reciprocal_rank",
    "scorer",
]
