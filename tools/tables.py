"""Simulate the small tables that come with the package.

    python tools/tables.py            write rankbook/data/tables/ again
    python tools/tables.py --check    exit with 1 if a file there differs from the simulation

The constants are the true parameters of the tables; the docstrings of `rankbook.datasets` repeat
them. The module uses only `random.random`, whose numbers are the same in all versions of Python.
"""

import sys
from datetime import date, timedelta
from math import exp, log
from pathlib import Path
from random import Random

# With these seeds the tables are typical: intervals of fits contain the true parameters.
SEEDS = dict(votes=10, matches=11, clicks=12, orders=13, survival=17)
FOLDER = Path(__file__).resolve().parents[1] / "rankbook" / "data" / "tables"

# Scores of items in logits, best first.
ASSISTANTS = dict(zip("Ash Birch Cedar Elm".split(), (1.5, 1.1, 0.7, 0.3)))
ASSISTANTS |= dict(zip("Fir Hazel Larch Maple".split(), (-0.3, -0.7, -1.1, -1.5)))
# The factor of a judge multiplies differences of scores. Finn has 0 and guesses.
JUDGES = dict(Ada=1.6, Ben=1.3, Cleo=1.0, Dan=1.0, Eva=0.7, Finn=0.0)
VOTE_TIES, VOTES = 0.5, 360

CLUBS = dict(zip("Ayr Bury Corby Derby".split(), (1.1, 0.6, 0.3, 0.1)))
CLUBS |= dict(zip("Exeter Frome Goole Hull".split(), (-0.2, -0.4, -0.6, -0.9)))
HOME_ADVANTAGE, MATCH_TIES, SEASONS = 0.5, 0.8, 2

# Price in tens of euros, rating from 0 to 10, kilometres to the centre.
HOTELS = dict(Anchor=(9, 7.1, 2.5), Bristol=(14, 8.8, 0.6), Castle=(11, 6.2, 1.8))
HOTELS |= dict(Dom=(12, 8.1, 0.3), Europa=(7, 7.9, 4.1), Fontana=(8, 8.4, 3.2))
HOTELS |= dict(Garden=(16, 9.0, 1.1), Hafen=(6, 6.6, 5.0), Iris=(10, 7.4, 0.9))
HOTELS |= dict(Jura=(13, 9.2, 2.2))
CLICK_WEIGHTS, SESSIONS, SHOWN = (-0.25, 1.0, -0.4), 80, 5

BEANS = dict(zip("Arusha Boma Cauca Dipilto Embu".split(), (1.2, 0.6, 0.0, -0.4, -1.4)))
JURORS = 60

HAZARDS = dict(age=0.04, marker=0.6, treated=-0.8)
CLINICS = dict(North=1.0, East=1.6, South=0.6)  # factors of the hazard
PATIENTS, SHAPE, SCALE, LAST_DAY = 200, 1.3, 500, 730


def sigmoid(x):
    """The probability of a logit."""
    return 1 / (1 + exp(-x))


def outcome(rng, difference, ties):
    """Draw 1 (a win), 0 (a tie) or -1 from Davidson's model."""
    win, tie, loss = exp(difference / 2), ties, exp(-difference / 2)
    u = rng.random() * (win + tie + loss)
    return 1 if u < win else 0 if u < win + tie else -1


def draw(rng, values):
    """Draw one of some values."""
    return values[int(rng.random() * len(values))]


def normal(rng):
    """Draw a nearly normal number, with mean 0 and standard deviation 1."""
    return sum(rng.random() for _ in range(12)) - 6


def shuffled(rng, scores):
    """Draw an order of items from the Plackett-Luce model, best first."""
    gumbel = {name: score - log(-log(rng.random())) for name, score in scores.items()}
    return sorted(gumbel, key=gumbel.get, reverse=True)


def votes(rng):
    """Votes of judges between the answers of two assistants."""
    yield "winner,loser,tie,judge"
    for _ in range(VOTES):
        left = draw(rng, list(ASSISTANTS))
        right = draw(rng, [name for name in ASSISTANTS if name != left])
        judge = draw(rng, list(JUDGES))
        difference = JUDGES[judge] * (ASSISTANTS[left] - ASSISTANTS[right])
        won = outcome(rng, difference, VOTE_TIES)
        winner, loser = (right, left) if won == -1 else (left, right)
        yield f"{winner},{loser},{int(won == 0)},{judge}"


def matches(rng):
    """Matches of clubs, each pair twice a season, at home and away."""
    yield "date,home,away,result"
    pairs = [(home, away) for home in CLUBS for away in CLUBS if home != away]
    for season in range(SEASONS):
        first = date(2023 + season, 8, 5)
        order = sorted(pairs, key=lambda pair: rng.random())
        for number, (home, away) in enumerate(order):
            won = outcome(rng, CLUBS[home] - CLUBS[away] + HOME_ADVANTAGE, MATCH_TIES)
            lost, more = int(-log(rng.random())), int(-log(rng.random()))
            goals = sorted((lost, lost + (1 + more if won else 0)), reverse=won == 1)
            yield f"{first + timedelta(7 * (number // 4))},{home},{away},{goals[0]}-{goals[1]}"


def clicks(rng):
    """Hotels shown in a good order, and clicks on those that a user examined."""
    yield "session,rank,hotel,price,rating,distance,click"
    utility = {
        name: sum(w * x for w, x in zip(CLICK_WEIGHTS, features))
        for name, features in HOTELS.items()
    }
    mean = sum(utility.values()) / len(utility)
    for session in range(1, SESSIONS + 1):
        noisy = {name: u + normal(rng) for name, u in utility.items()}  # the order in production
        shown = sorted(sorted(HOTELS, key=lambda name: rng.random())[:SHOWN], key=noisy.get)[::-1]
        for rank, name in enumerate(shown, start=1):
            is_examined, is_liked = rng.random() < 1 / rank, utility[name] - mean - 0.5
            click = int(rng.random() < sigmoid(is_liked) and is_examined)
            cells = (f"{x:g}" for x in HOTELS[name])
            yield f"{session},{rank},{name},{','.join(cells)},{click}"


def orders(rng):
    """Orders of coffees by jurors, some of whom name only the first three."""
    yield "ranking,item,rank"
    for juror in range(1, JURORS + 1):
        order = shuffled(rng, BEANS)
        order = order[:3] if rng.random() < 0.15 else order
        yield from (f"{juror},{name},{rank}" for rank, name in enumerate(order, start=1))


def survival(rng):
    """Patients of three clinics, followed until an event or for two years at most."""
    yield "days,event,clinic,age,marker,treated"
    for _ in range(PATIENTS):
        clinic, age, marker = draw(rng, list(CLINICS)), int(40 + 40 * rng.random()), normal(rng)
        treated = int(rng.random() < 0.5)
        values = (age - 60, marker, treated)
        hazard = CLINICS[clinic] * exp(sum(w * x for w, x in zip(HAZARDS.values(), values)))
        days = SCALE * (-log(rng.random()) / hazard) ** (1 / SHAPE)
        end = min(LAST_DAY, LAST_DAY * (0.3 + rng.random()))
        shown = "" if rng.random() < 0.05 else f"{marker:.2f}"
        yield f"{1 + int(min(days, end))},{int(days <= end)},{clinic},{age},{shown},{treated}"


TABLES = dict(votes=votes, matches=matches, clicks=clicks, orders=orders, survival=survival)


def main(arguments):
    """Write or check every file."""
    if arguments not in ([], ["--check"]):
        raise SystemExit(f"{__doc__.strip()}\n\nUnknown arguments: {' '.join(arguments)}")
    FOLDER.mkdir(exist_ok=True)
    for name, table in TABLES.items():
        text, path = "\n".join(table(Random(SEEDS[name]))) + "\n", FOLDER / f"{name}.csv"
        if not arguments:
            path.write_text(text, encoding="utf-8", newline="\n")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{path} differs from the simulation; run `python tools/tables.py`.")
        print(f"{path.name:13} {len(text):6,} bytes, {text.count(chr(10)) - 1} rows")


if __name__ == "__main__":
    main(sys.argv[1:])
