# Public names and their modules: editors read this file, and lazy_loader imports from it.

from . import kernels, metrics, plots, testing
from .app.report import Report, report
from .base.errors import Assumption
from .data import datasets
from .data.blocks import Block, Blocks
from .data.dask import dask_blocks
from .data.file_blocks import read_blocks
from .data.ratings import Ratings, read_ratings
from .data.records import read_orders, read_preferences
from .data.table import read_table
from .estimators.calibration import calibrate
from .estimators.coefficients import coefficient_table
from .estimators.explain_pair import explain_pair
from .estimators.label_ranker import LabelRanker, LabelRankerCV
from .estimators.leaderboard import Leaderboard
from .estimators.linear_json import to_json
from .estimators.online import OnlineRankSVM, OnlineSVC
from .estimators.onnx_model import to_onnx
from .estimators.order_intervals import OrderIntervals, match_prior, order_intervals
from .estimators.ordinal import OrdinalRanker
from .estimators.rankrls import RankRLS, RankRLSCV
from .estimators.ranksvm import RankSVM, RankSVMCV
from .estimators.rayleigh import RayleighRanker, RayleighRankerCV
from .estimators.saving import load
from .estimators.score_errors import Comparison
from .estimators.survival_curves import BaselineHazard
from .metrics.pairs import auc, disagreement
from .paths.exact import RegularizationPath, SolutionPath
from .preferences.graph import Preferences
from .preferences.orders import Orders
from .preferences.propensities import click_propensities
from .problems.certificate import Certificate, Solution
from .problems.pair_features import extend_items
from .problems.questions import suggest_pairs
from .problems.rankrls import RankRLSProblem
from .problems.rankrls_statistics import RankingStatistics
from .problems.ranksvm import RankSVMProblem
from .problems.ranksvm_blocks import BlockRankSVMProblem
from .problems.rayleigh import RayleighProblem
from .problems.smooth_losses import PairLoss
from .problems.svm import SVMProblem
from .registry.choice import compare_solvers
from .registry.plugins import (
    get_solver,
    list_solvers,
    register_solver,
    unregister_solver,
)
from .registry.solve import solve, solve_path
from .registry.solver import Solver
from .selection.curve import ValidationCurve, choose_lambda, validation_curve
from .selection.kernel_path import kernel_path

__version__: str
__all__ = [
    "Assumption",
    "BaselineHazard",
    "Block",
    "BlockRankSVMProblem",
    "Blocks",
    "Certificate",
    "Comparison",
    "LabelRanker",
    "LabelRankerCV",
    "Leaderboard",
    "OnlineRankSVM",
    "OnlineSVC",
    "OrderIntervals",
    "Orders",
    "OrdinalRanker",
    "PairLoss",
    "Preferences",
    "RankRLS",
    "RankRLSCV",
    "RankRLSProblem",
    "RankSVM",
    "RankSVMCV",
    "RankSVMProblem",
    "RankingStatistics",
    "Ratings",
    "RayleighProblem",
    "RayleighRanker",
    "RayleighRankerCV",
    "RegularizationPath",
    "Report",
    "SVMProblem",
    "Solution",
    "SolutionPath",
    "Solver",
    "ValidationCurve",
    "auc",
    "calibrate",
    "choose_lambda",
    "click_propensities",
    "coefficient_table",
    "compare_solvers",
    "dask_blocks",
    "datasets",
    "disagreement",
    "explain_pair",
    "extend_items",
    "get_solver",
    "kernel_path",
    "kernels",
    "list_solvers",
    "load",
    "match_prior",
    "metrics",
    "order_intervals",
    "plots",
    "read_blocks",
    "read_orders",
    "read_preferences",
    "read_ratings",
    "read_table",
    "register_solver",
    "report",
    "solve",
    "solve_path",
    "suggest_pairs",
    "testing",
    "to_json",
    "to_onnx",
    "unregister_solver",
    "validation_curve",
]
