"""Altered files that are read and then used, under limits of time and memory.

    python tests/fuzzing.py load COUNT SEED
    python tests/fuzzing.py read COUNT SEED

prints how many files were refused, used, and used up to an error in the package's words, as JSON,
with what went wrong otherwise. A crash ends the process; the last line on stderr names its case.
"""

import copy
import gzip
import io
import json
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

import rankbook as rb
from rankbook.base.files import open_archive, write_archive
from rankbook.data.table import read_table
from rankbook.data.writers import write_dataset
from rankbook.estimators.saving import file_facts

SECONDS, BYTES = 10, 2 << 30  # of one case, beyond what the process has when it starts
STORED = sorted((Path(__file__).parent / "data" / "stored").glob("*.rankbook"))
VALUES = [None, True, -1, 0, 1, 3, 10**9, 10**30, 0.5, -1e308, "", "x", "\x1b[2J", [], {}, [0, 1]]
VALUES += [{"$same": 0}, {"$same": 1}, {"$float": "nan"}, {"$float": "inf"}, {"$tuple": [1]}]
VALUES += [{"$dict": []}, "rbf", "linear", "precomputed", "poly", "complete", "auto", "l1"]
NUMBERS = [np.nan, np.inf, -1.0, 0.0, 1.0, 2.0, 7.0, 1e9, 1e308, -1e308, 5e-324]
DTYPES = ["f8", "f4", "i8", "i4", "i1", "u8", "u1", "?"]
TOKENS = [b",", b"\n", b'"', b"\x00", b"nan", b"inf", b"1e400", b"-", b" qid:1", b" 1:", b":", b"#"]
TOKENS += [b"9" * 400, b"\xff", b"\xef\xbb\xbf", b"\r", b"\t", b";", b"'", b"true", b"2024-01-01"]


def nodes(tree, found):
    """Every (container, key) of a JSON tree."""
    for key in range(len(tree)) if isinstance(tree, list) else list(tree):
        found.append((tree, key))
        if isinstance(tree[key], (list, dict)):
            nodes(tree[key], found)
    return found


def change_facts(rng, facts):
    """Replace, remove or copy one value of the facts."""
    places = nodes(facts, [])
    if not places:
        return
    (tree, key), (other, place) = (places[rng.integers(len(places))] for _ in range(2))
    kind = rng.integers(4)
    if kind < 2:
        tree[key] = copy.deepcopy(VALUES[rng.integers(len(VALUES))])
    elif kind == 2:
        del tree[key]
    else:
        tree[key] = copy.deepcopy(other[place])


def change_arrays(rng, arrays):
    """Change a number, the type, the shape or the place of one array."""
    if not arrays:
        return
    name, other = (sorted(arrays)[rng.integers(len(arrays))] for _ in range(2))
    a = arrays[name].copy()
    kind = rng.integers(8)
    with np.errstate(all="ignore"):
        if kind < 3 and a.size:
            a.reshape(-1)[rng.integers(a.size)] = np.array(
                NUMBERS[rng.integers(len(NUMBERS))]
            ).astype(a.dtype)
        elif kind == 3:
            a = a.astype(DTYPES[rng.integers(len(DTYPES))])
        elif kind == 4 and a.ndim:
            a = np.concatenate([a, a]) if rng.integers(2) else a[: rng.integers(len(a) + 1)]
        elif kind == 5:
            a = (a.T, a.reshape(-1), a[None], a.reshape(-1)[:1].sum())[rng.integers(4)]
        elif kind == 6:
            a = arrays[other]
        else:
            a = a * np.array([1e200, 0.0, -1.0, 1e-200])[rng.integers(4)]
    arrays[name] = np.asarray(a)
    if rng.integers(20) == 0:
        del arrays[name]


def altered_file(rng, file):
    """Write one of the stored files with one to three changes."""
    header, arrays = open_archive(STORED[rng.integers(len(STORED))])
    for _ in range(rng.integers(1, 4)):
        change_arrays(rng, arrays) if rng.integers(2) else change_facts(rng, header["facts"])
    write_archive(file, header["kind"], header["facts"], arrays)


def use(loaded, file):
    """Ask a model or a path for all that it has to say."""
    repr(loaded), str(loaded)
    loaded.save(f"{file}.again")
    if hasattr(loaded, "table_"):
        loaded.to_frame(), loaded.to_markdown(), loaded.predict_proba(*[loaded.items_[:2]] * 2)
        loaded.compare(*loaded.items_[:2])
        return
    if not hasattr(loaded, "breakpoints"):
        ranker = getattr(loaded, "model", loaded)
        repr(ranker.get_params()), getattr(ranker, "_repr_html_", str)()
        d = min(getattr(ranker, "n_features_in_", 3), 1000)
        X = np.random.default_rng(0).normal(size=(4, d))
        for name in ("predict", "decision_function", "predict_proba", "rank"):
            if hasattr(loaded, name):
                getattr(loaded, name)(X)
        return
    lam = loaded.domain[0] or 1e-3
    for at in (1.01 * lam, 10 * lam, *loaded.breakpoints[:3]):
        loaded.coef(at), loaded.certificate(at), loaded.predict(np.eye(3), at)
        loaded.solution(at).dual
    repr(loaded.problem), loaded._repr_html_() if hasattr(loaded, "_repr_html_") else None
    if hasattr(loaded, "to_frame"):
        loaded.to_frame(), loaded.summary()
    if getattr(loaded, "continuation", None) is not None:
        loaded.resume(max_events=5)


TABLE = "name,qid,a,b,y\n" + "".join(f"n{i},{i // 4},{i * 0.5},{-i},{i % 3}\n" for i in range(24))
LETOR = "".join(f"{i % 3} qid:{i // 4} 1:{i * 0.5} 3:{-i}\n" for i in range(24))


def parquet():
    """The table as Parquet."""
    out = io.BytesIO()
    pd.read_csv(io.StringIO(TABLE)).drop(columns="name").to_parquet(out)
    return out.getvalue()


def sources():
    """Files that are read, by ending."""
    plain = "\n".join(line.partition(",")[2] for line in TABLE.split("\n"))
    found = {".csv": plain.encode(), ".tsv": plain.replace(",", "\t").encode()}
    found |= {".svm": LETOR.encode(), ".letor": LETOR.encode(), ".parquet": parquet()}
    return found | {f"{end}.gz": gzip.compress(found[end], mtime=0) for end in (".csv", ".letor")}


def altered_bytes(rng, content):
    """One to four changes of a text or of bytes."""
    for _ in range(rng.integers(1, 3)):
        at, until = sorted(rng.integers(len(content) + 1, size=2))
        kind = rng.integers(6)
        if kind == 0 and content:
            at = int(rng.integers(len(content)))
            content = content[:at] + bytes([rng.integers(256)]) + content[at + 1 :]
        elif kind < 3:
            content = content[:at] + TOKENS[rng.integers(len(TOKENS))] + content[at:]
        elif kind == 3:
            content = content[:at] + content[until:]
        elif kind == 4:
            content = content[:at] + content[at:until] * int(rng.integers(2, 5)) + content[until:]
        else:
            lines = content.split(b"\n")
            lines[rng.integers(len(lines))] = lines[rng.integers(len(lines))]
            content = b"\n".join(lines)
    return content


def read(file):
    """The data set of a file."""
    return read_table(file, None if {".svm", ".letor"} & set(file.suffixes) else "y")


def use_table(data, file):
    """Make preferences and a ranking of a data set, write it, and read it again."""
    repr(data), data._repr_html_()
    prefs = rb.Preferences.from_scores(data.y, data.qid)
    repr(prefs), len(prefs)
    rb.metrics.ndcg(data.y - data.y.min(), data.X[:, 0], data.qid)
    write_dataset(data, f"{file}.again.csv")
    again = read_table(f"{file}.again.csv", "target", "none" if data.qid is None else "qid")
    assert np.array_equal(again.X, data.X) and np.array_equal(again.y, data.y)


class TooLong(BaseException):
    """A case that takes more than its seconds."""


def too_long(*_):
    raise TooLong


def main(what, count, seed):
    found, wrong, texts = Counter(), [], sources()
    signal.signal(signal.SIGALRM, too_long)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for stored in STORED if what == "load" else ():  # so that all is imported and compiled
            use(rb.load(stored), Path(folder) / "first")
        memory = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (memory + BYTES, memory + BYTES))
        for case in range(seed, seed + count):
            rng, file = np.random.default_rng(case), Path(folder) / "altered.rankbook"
            print(f"{what} 1 {case}", file=sys.stderr)
            step = "load"
            try:
                if what == "load":
                    altered_file(rng, file)
                else:
                    ending = sorted(texts)[rng.integers(len(texts))]
                    file = Path(folder) / f"altered{ending}"
                    file.write_bytes(altered_bytes(rng, texts[ending]))
                signal.alarm(SECONDS)
                loaded = rb.load(file) if what == "load" else read(file)
                step = "use"
                if what == "load":
                    file_facts(file)
                (use if what == "load" else use_table)(loaded, file)
                found["used"] += 1
            except (ValueError, ArithmeticError) as error:
                found["refused" if step == "load" else "used up to an error"] += 1
                known = isinstance(error, ValueError) if what == "read" else str(file) in str(error)
                if step == "load" and not known:
                    wrong.append(f"{case} {step}: {type(error).__name__}: {error}")
            except BaseException as error:
                wrong.append(f"{case} {step}: {type(error).__name__}: {error}")
            finally:
                signal.alarm(0)
    print(json.dumps(dict(found, wrong=wrong)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
