"""Tables that Jupyter shows of problems, solutions, certificates and validation curves."""

from xml.dom import minidom

import numpy as np
import pytest

import rankbook as rb
from rankbook.problems.label_ranking import LabelRankRLSProblem
from rankbook.problems.svm import MulticlassSVMProblem

X, Y = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 3
PREFS = rb.Preferences.from_scores(Y)
PROBLEMS = {
    "hinge": (rb.RankSVMProblem(X, PREFS), {"items": "12", "preferences": "48", "loss": "hinge"}),
    "l1": (
        rb.RankSVMProblem(X, PREFS, kernel="linear", penalty="l1"),
        {"kernel": "Kernel(linear)", "penalty": "l1"},
    ),
    "least squares": (rb.RankRLSProblem(X, Y, basis=[0, 1]), {"items": "12", "basis": "2 items"}),
    "labels": (LabelRankRLSProblem(X, np.c_[Y, -Y]), {"items": "24", "basis": "all items"}),
    "blocks": (rb.BlockRankSVMProblem(rb.Blocks([rb.Block(X, Y)])), {"preferences": "48"}),
    "rayleigh": (
        rb.RayleighProblem(X, Y > 1, X_unlabelled=X[:3], n_components=2),
        {"items": "15, 12 of them labelled", "features": "2"},
    ),
    "two classes": (rb.SVMProblem(X, Y > 1), {"examples": "12"}),
    "classes": (MulticlassSVMProblem(X, Y), {"examples": "12", "classes": "3"}),
}


def table(value):
    """The head and the facts of a table, which has to be well-formed."""
    rows = minidom.parseString(value._repr_html_()).getElementsByTagName("tr")
    cells = [["".join(n.data for n in c.childNodes) for c in row.childNodes] for row in rows]
    return cells[0][0], dict(cells[1:])


@pytest.mark.parametrize("kind", PROBLEMS)
def test_problems(kind):
    problem, expected = PROBLEMS[kind]
    head, facts = table(problem)
    assert head == type(problem).__name__ and expected.items() <= facts.items()


@pytest.mark.parametrize("kind", ["hinge", "l1", "least squares", "labels", "rayleigh"])
def test_solutions_and_certificates(kind):
    solution = rb.solve(PROBLEMS[kind][0], 0.5)
    head, facts = table(solution.certificate)
    assert head == "Certificate" and facts["lambda"] == "0.5"
    low, high = map(float, facts["minimum"].removeprefix("between ").split(" and "))
    proof = solution.certificate
    assert [low, high] == pytest.approx([proof.dual, proof.primal], rel=1e-9)
    assert ("distance to the optimum" in facts) == np.isfinite(proof.radius)
    assert ("Rayleigh quotient" in facts) == (kind == "rayleigh")
    head, more = table(solution)
    assert head == "Solution" and facts.items() <= more.items()
    assert more["solver"] == solution.solver and more["problem"] == repr(solution.problem)


def test_names_are_escaped():
    name = "<script>alert('&')</script>"
    solution = rb.Solution(PROBLEMS["hinge"][0], 1.0, np.zeros(12), solver=name)
    assert "<script>" not in solution._repr_html_() and table(solution)[1]["solver"] == name


def test_curves():
    breaks = [np.inf, 8.0, 4.0, 1.0, 0.1]
    curve = rb.ValidationCurve(breaks, [0.5, 0.2, 0.3, 0.2], scale=(0.1, 8.0))
    expected = {"metric": "disagreement", "intervals": "4", "minimum": "0.2"}
    assert table(curve) == (
        "ValidationCurve",
        expected | {"attained for lambda": "4 to 8, 0.1 to 1"},
    )
    many = rb.ValidationCurve(
        np.r_[np.inf, np.arange(9.0, 0.0, -1.0)],
        np.arange(9.0) % 2,
        scale=(1.0, 9.0),
        maximize=True,
        exact=False,
    )
    facts = table(many)[1]
    assert facts["maximum"] == "1" and facts["intervals"] == "9, approximate"
    assert facts["attained for lambda"] == "8 to 9, 6 to 7, 4 to 5 and 1 more"
