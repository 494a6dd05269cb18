"""Error for a wrong argument, and warning about an assumption."""


def a_type(value, kind=None):
    """Return the name of the type of a value, or of `kind`, with its article.

    Examples
    --------
    >>> a_type(3), a_type([]), a_type(None, ArgumentError)
    ('an int', 'a list', 'an ArgumentError')
    """
    name = (kind or type(value)).__name__
    return f"{'an' if name[0] in 'aeioAEIO' or name == 'ndarray' else 'a'} {name}"


class ArgumentError(ValueError, TypeError):
    """Error for an argument whose value is not accepted.

    The error is both a ValueError and a TypeError.

    Parameters
    ----------
    said : str
        Name of the argument, a space, and the given value: "lam is -1", "X has 3 rows".
    accepted : str
        What to pass: "a positive number". A text with a capital letter and a full stop is a
        sentence of its own: "Return a number for each query."
    advice : str, optional
        A further sentence, for example with a remedy.

    Attributes
    ----------
    argument, given : str
        The name of the argument and the rest of `said`.

    Examples
    --------
    >>> error = ArgumentError("lam is -1", "a positive number")
    >>> str(error), error.argument
    ('lam is -1. Pass a positive number.', 'lam')
    >>> str(ArgumentError("metric returned None", "Return a number for each query."))
    'metric returned None. Return a number for each query.'
    """

    def __init__(self, said, accepted, advice=""):
        super().__init__(said, accepted, advice)
        self.argument, _, self.given = said.partition(" ")
        self.accepted, self.advice = accepted, advice

    def renamed(self, argument):
        """Return the same error under another name, for example of a command-line option."""
        return type(self)(f"{argument} {self.given}", self.accepted, self.advice)

    def __str__(self):
        is_sentence = self.accepted[:1].isupper() and self.accepted.endswith(".")
        remedy = self.accepted if is_sentence else f"Pass {self.accepted}."
        text = f"{self.argument} {self.given}. {remedy} {self.advice}"
        return " ".join(line.strip() for line in text.splitlines())  # arrays have several


class Assumption(UserWarning):
    """Warning about a decision that a table leaves open, and how rankbook made it.

    The class reports every decision about a table that the caller did not state.
    ``warnings.simplefilter("error", rb.Assumption)`` therefore refuses all of them.

    Examples
    --------
    >>> import rankbook as rb
    >>> issubclass(rb.Assumption, UserWarning)
    True
    """
