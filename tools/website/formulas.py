"""Formulas of docstrings, which are plain text in a terminal, as mathematics on the site.

A formula is the longest piece of prose that can be read as sums, products, powers, norms and calls
of known names, and that contains more than a name or a number: ``O(n^2 d)``, ``lam/2 |f|^2``.
"""

import re

GREEK = "alpha beta gamma delta epsilon eta theta kappa mu nu rho sigma tau xi".split()
SYMBOLS = {"lam": r"\lambda", "lambda": r"\lambda", **{name: rf"\{name}" for name in GREEK}}
FUNCTIONS = {"log": r"\log", "exp": r"\exp", "max": r"\max", "min": r"\min", "ln": r"\ln"}
FUNCTIONS |= {"log2": r"\log_2", "sum": r"\sum", "prod": r"\prod", "mean": r"\operatorname{mean}"}
WORDS = "margin coef better worse gap rounding gradient clip propensity dual nnz rank".split()
PRODUCTS = "Aw Bz BXw BX JX Xw iy".split()  # of matrices and vectors of one letter
NAMES = {"pair_lam": r"\lambda_{\text{pair}}", "l1_ratio": r"\mathrm{l1\_ratio}"}
RELATIONS = {"<=": r"\le", ">=": r"\ge", "=": "=", "<": "<", ">": ">"}
TOKEN = re.compile(
    r"\s*(\d+(?:\.\d+)?(?:e-?\d+)?|[A-Za-z]+\d?(?:_[A-Za-z0-9]+)*|\*\*|<=|>=|[-+*/^=<>|(),']|_\d|\.(?=[,)]))"
)


class NoFormula(Exception):
    """The text is not a formula from here on."""


class Reader:
    """Reads one formula at the place `at` of a text, and writes it in LaTeX."""

    def __init__(self, text, at):
        self.text, self.at, self.marked = text, at, False

    def peek(self):
        """The next token, where it begins and where it ends; an empty one at the end."""
        match = TOKEN.match(self.text, self.at)
        return (match[1], match.start(1), match.end()) if match else ("", self.at, self.at)

    def take(self, token):
        """Go on after a token; without it there is no formula."""
        found, _, end = self.peek()
        if found != token:
            raise NoFormula
        self.at = end

    def attempt(self, read):
        """What `read` reads, or None, as if it had not been tried."""
        before = self.at, self.marked
        try:
            return read()
        except NoFormula:
            self.at, self.marked = before
            return None

    def relation(self):
        """Sums beside = or <=, with space on both sides, so that gamma=1 stays code."""
        text = self.total()
        while found := self.attempt(self.right_side):
            text += found
        return text

    def right_side(self):
        """A sign of a relation and what is on its right."""
        sign, start, end = self.peek()
        if sign not in RELATIONS or not (self.text[start - 1] + self.text[end : end + 1]).isspace():
            raise NoFormula
        self.at = end
        text = f" {RELATIONS[sign]} {self.total()}"
        self.marked = True
        return text

    def total(self):
        """A sum of products."""
        sign = self.peek()[0]
        text = self.signed() if sign in ("+", "-") else self.product()
        while self.peek()[0] in ("+", "-") and (found := self.attempt(self.signed)):
            text, self.marked = f"{text} {found}", True
        return text

    def signed(self):
        """A product with its sign."""
        sign, _, self.at = self.peek()
        return f"{sign} {self.product()}"

    def product(self):
        """Factors beside each other, or with * or / between them."""
        text = self.factor()
        while text != "0" and (found := self.attempt(self.next_factor)) is not None:
            text += found
        return text

    def next_factor(self):
        """A sign and the factor after it, or a factor that follows without a sign."""
        token, _, end = self.peek()
        if token not in ("*", "/"):
            space = r"\," if self.text[self.at : self.at + 1].isspace() else ""
            return f"{space} {self.factor(beside=True)}"
        self.at = end
        text = f" / {self.factor()}" if token == "/" else rf" \cdot {self.factor()}"
        self.marked = True
        return text

    def factor(self, beside=False):
        """An atom with its powers and the sign of a transpose."""
        token = self.peek()[0]
        called = self.text[self.at :].lstrip().startswith("O(")
        if beside and (token == "a" or token[:1].isdigit() or called):
            raise NoFormula
        text = self.atom()
        while re.match(r"\^|'|_|\*\*", self.text[self.at :]):
            sign, _, end = self.peek()
            self.at, self.marked = end, True
            if sign in ("^", "**"):
                text += f"^{{{self.atom()}}}"
            elif sign == "'" and not token[:1].isdigit():
                text += "'" if self.text[end : end + 1] in ("", ")", ",", "|") else r"^\top"
            elif sign.startswith("_"):
                text += sign
            else:
                raise NoFormula
        return text

    def atom(self):
        """A number, a name, a call, a norm, or a sum in brackets."""
        token, _, end = self.peek()
        self.at = end
        if token[:1].isdigit():
            return token.replace("e", r" \cdot 10^{") + "}" * ("e" in token)
        if token == "|":
            inner, self.marked = self.total(), True
            self.take("|")
            return rf"\lvert {inner} \rvert"
        if token == "(":
            inner = self.total()
            self.take(")")
            return f"({inner})"
        if token in ("sqrt", "abs"):
            self.take("(")
            inner, self.marked = self.total(), True
            self.take(")")
            return rf"\sqrt{{{inner}}}" if token == "sqrt" else rf"\lvert {inner} \rvert"
        if token == ".":
            return r"\cdot"
        name = self.name(token)
        if self.text[self.at : self.at + 1] == "(":
            return name + self.arguments()
        return name

    def arguments(self):
        """What a function is called with."""
        self.take("(")
        parts = [self.relation()]
        while self.peek()[0] == ",":
            self.take(",")
            parts.append(self.relation())
        self.take(")")
        self.marked = True
        return f"({', '.join(parts)})"

    def name(self, token):
        """A known name with its index."""
        base, _, index = token.partition("_")
        if token in NAMES:
            return NAMES[token]
        if base in ("sum", "mean") and self.text.startswith(" of max(", self.at):
            self.at += len(" of")
        elif base in ("sum", "mean", "prod", "dual") and not index:
            if self.text[self.at : self.at + 1] != "(":
                raise NoFormula
        alone = base in FUNCTIONS and base not in ("sum", "mean", "prod")
        if alone and not re.match(r"\(|\s+\w", self.text[self.at :]):
            raise NoFormula  # log-rank
        if base in FUNCTIONS:
            text = FUNCTIONS[base]
        elif base in SYMBOLS:
            text = SYMBOLS[base]
        elif base in WORDS:
            text = rf"\text{{{base}}}"
        elif base in PRODUCTS or (len(base) == 1 and base.isalpha()):
            text = base
        else:
            raise NoFormula
        if len(index) > 2 and base not in ("n", "x", "lam"):
            raise NoFormula  # a name of code, such as y_true
        if index:
            self.marked = self.marked or len(index) < 3
            text += "_{" + (index if len(index) < 3 else rf"\text{{{index}}}") + "}"
        return text


def formula_at(text, at):
    """The end of the formula that begins at a place, and its LaTeX; None if there is none."""
    reader = Reader(text, at)
    found = reader.attempt(reader.relation)
    if found is None or not reader.marked:
        return None
    if not re.match(r"$|\s(?!\s*\w+\[)|[.,:;!?)\]-]", text[reader.at :]):
        return None
    return reader.at, found


def with_formulas(text):
    """Prose of a docstring with its formulas as roles of Sphinx."""
    made, at = "", 0
    starts = re.compile(r"(?<![\w.'`/^*-])[\w(|]")
    while start := starts.search(text, at):
        made += text[at : start.start()]
        at = start.start()
        if found := formula_at(text, at):
            at, latex = found
            made += f":math:`{latex}`"
        else:
            word = re.match(r"\w+|.", text[at:])[0]
            made += word
            at += len(word)
    return made + text[at:]
