"""Learning to rank from preferences.

The package contains exact, certified regularization paths of the ranking SVM, RankRLS in closed
form, the semi-supervised Rayleigh ranker, and online and large-scale solvers. Each public name is
imported from its module when it is first used.

>>> import rankbook as rb
>>> model = rb.RankSVM(lam=0.1).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
>>> model.predict([[0.5], [1.5]]).argmax()
np.int64(1)
"""

from importlib.metadata import version

import lazy_loader

__version__ = version("rankbook")
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
