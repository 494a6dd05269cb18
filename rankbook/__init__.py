"""Learning to rank from preferences.

The package contains exact, certified regularization paths of the ranking SVM, RankRLS in closed
form, the semi-supervised Rayleigh ranker, and online and large-scale solvers. Each public name is
imported from its module when it is first used.

>>> import rankbook as rb
>>> model = rb.RankSVM(lam=0.1).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
>>> model.predict([[0.5], [1.5]]).argmax()
np.int64(1)
"""

from importlib import import_module
from warnings import warn

import lazy_loader

from .base.messages import show_messages

show_messages()
_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
# names that were public in 0.2, and the modules that define them
_MOVED = dict.fromkeys(("LabelRankRLSProblem", "LabelRankSVMProblem"), "problems.label_ranking")
_MOVED |= dict(MulticlassSVMProblem="problems.svm", NystroemMap="kernels.nystroem")
_MOVED |= dict(auc_bound="problems.rayleigh", choose_basis="kernels.basis")
_MOVED |= dict(merge_statistics="problems.rankrls_statistics")


def __getattr__(name):
    if name == "__version__":
        from importlib.metadata import version

        return version("rankbook")
    if name not in _MOVED:
        return _public(name)
    home = f"rankbook.{_MOVED[name]}"
    warn(f"Import {name} from {home}; version 0.4 removes rankbook.{name}.", FutureWarning, 2)
    return getattr(import_module(home), name)
