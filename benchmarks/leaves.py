"""Do ranking SVMs on the leaves of boosted trees rank better than the trees? On MQ2008.

LightGBM is fitted with each combination of a small grid and stops early by the validation part. A
leaf of each tree is then a sparse feature of an item, and a ranking SVM learns the weights of the
leaves anew, with a certificate. For both, the validation part chooses the combination, and for the
SVM also lambda. The five test parts together contain each query once.
"""

from dataclasses import dataclass
from itertools import product
from time import process_time
from typing import ClassVar

import numpy as np

import rankbook as rb

from .which_data import folder, generated, mq2008

LEAVES, RATES = (4, 8, 16), (0.05, 0.1)
LAMS = {"linear": (1.0, 10.0, 100.0, 1000.0), "leaves": (1e2, 1e3, 1e4, 1e5)}
TREES = 500


@dataclass(frozen=True)
class Ranked:
    """A method on a fold.

    Attributes
    ----------
    data, part : str
    method : {"LightGBM", "linear", "leaves", "leaves and features"}
    features : int
        Columns of the chosen model, or trees of LightGBM.
    validation, test : float
        NDCG@10.
    values : str
        NDCG@10 of each test query with a relevant document, with blanks between them.
    gap : float, optional
        Relative gap of the certificate.
    seconds : float
        Of the processor, for all combinations.
    note : str
    """

    REMARK: ClassVar[str] = "NDCG@10 of the test part; the validation part chose the parameters."

    data: str
    part: str = ""
    method: str = ""
    features: int | None = None
    validation: float | None = None
    test: float | None = None
    values: str = ""
    gap: float | None = None
    seconds: float | None = None
    note: str = ""


def boosted(train, validation, leaves, rate, trees):
    """LightGBM, stopped where the validation part is ranked best."""
    import lightgbm

    options = dict(objective="lambdarank", metric="ndcg", eval_at=[10], min_data_in_leaf=20)
    options |= dict(num_leaves=leaves, learning_rate=rate, num_threads=1, verbosity=-1, seed=0)
    options |= dict(deterministic=True, force_row_wise=True)
    sizes = lambda qid: np.diff(np.flatnonzero(np.r_[True, qid[1:] != qid[:-1], True]))
    data = lightgbm.Dataset(train[0], train[1], group=sizes(train[2]))
    held = lightgbm.Dataset(*validation[:2], group=sizes(validation[2]), reference=data)
    stop = lightgbm.early_stopping(50, verbose=False)
    return lightgbm.train(options, data, trees, valid_sets=[held], callbacks=[stop])


def leaves_of(model, parts):
    """Sparse items of the parts, with a feature for each leaf that the first part reaches."""
    from scipy.sparse import csr_array
    from sklearn.preprocessing import OneHotEncoder

    trees = model.best_iteration
    numbers = [
        model.predict(X, pred_leaf=True, num_iteration=trees).reshape(len(X), -1) for X, *_ in parts
    ]
    encoder = OneHotEncoder(handle_unknown="ignore").fit(numbers[0])
    return [csr_array(encoder.transform(each)) for each in numbers]


def svms(items, parts, lams):
    """Ranking SVMs of the first part: value and scores of the others, features and gap."""
    (_, y, qid), held, _ = parts
    for lam in lams:
        model = rb.RankSVM(lam=lam, kernel="linear", loss="squared").fit(items[0], y, qid)
        scores = [model.predict(each) for each in items[1:]]
        gap = model.certificate_.relative_gap
        yield ndcg(held, scores[0]), scores[1], items[0].shape[1], gap


def ndcg(part, scores):
    """NDCG@10 of a part."""
    return rb.metrics.ndcg(part[1], scores, part[2], k=10)


def compared(parts, grid, trees):
    """The best of each method: value, test scores, features, gap and seconds, by its name."""
    from scipy.sparse import csr_array, hstack

    found, spent, start = {}, {}, process_time()
    models = [boosted(*parts[:2], *each, trees) for each in grid]
    of_trees = [
        (ndcg(parts[1], m.predict(parts[1][0])), m.predict(parts[2][0]), m.num_trees(), None)
        for m in models
    ]
    found["LightGBM"], spent["LightGBM"] = of_trees, process_time() - start
    start, plain = process_time(), [X for X, *_ in parts]
    found["linear"] = list(svms(plain, parts, LAMS["linear"]))
    spent["linear"] = process_time() - start
    for name in ("leaves", "leaves and features"):
        start, found[name] = process_time(), []
        for model in models:
            items = leaves_of(model, parts)
            if name != "leaves":
                items = [csr_array(hstack(both)) for both in zip(items, plain)]
            found[name] += svms(items, parts, LAMS["leaves"])
        spent[name] = process_time() - start
    best = {name: max(each, key=lambda one: one[0]) for name, each in found.items()}
    return {name: (*each, spent[name]) for name, each in best.items()}


def rows(scale, peers):
    """All rows."""
    grid, trees = list(product(LEAVES, RATES)), TREES
    if scale == "tiny":
        splits, grid, trees = list(generated())[:1], grid[:1], 5
    elif folder("letor_mq2008") is None:
        yield Ranked("MQ2008", note="RANKBOOK_DATA lacks the data")
        return
    else:
        splits = mq2008(range(1, 6))
    for split in splits:
        parts = [split.of(role) for role in ("train", "validation", "test")]
        try:
            best = compared(parts, grid, trees)
        except ImportError:
            yield Ranked(split.data, split.part, "LightGBM", note="not installed")
            return
        for name, (value, scores, features, gap, seconds) in best.items():
            _, y, qid = parts[2]
            values = rb.metrics.by_query("ndcg@10", y, scores, qid)[1]
            values = values[~np.isnan(values)]
            yield Ranked(
                split.data,
                split.part,
                name,
                features=features,
                validation=value,
                test=float(values.mean()),
                values=" ".join(f"{each:.6f}" for each in values),
                gap=gap,
                seconds=seconds,
            )
