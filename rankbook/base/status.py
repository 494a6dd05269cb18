"""Reasons why a regularization path ends."""

from enum import StrEnum


class Status(StrEnum):
    """Reason why a path ends. A member is equal to its name as a string.

    Attributes
    ----------
    sentence : str
        Explanation, without a capital letter or a full stop, for use after a colon.

    Examples
    --------
    >>> Status("lam_min") is Status.LAM_MIN == "lam_min"
    True
    >>> Status.LAM_MIN.sentence
    'it reached lam_min'
    """

    def __new__(cls, value, sentence):
        """Return a member equal to the string `value`."""
        member = str.__new__(cls, value)
        member._value_, member.sentence = value, sentence
        return member

    COMPLETE = "complete", "it has the solutions for all smaller lambdas"
    LAM_MIN = "lam_min", "it reached lam_min"
    DEVIANCE = "deviance", "its solutions explain the share of the loss that was asked for"
    MAX_EVENTS = "max_events", "it has as many events as max_events allows"
    INTERRUPTED = "interrupted", "it was interrupted"
    ROUNDING = "rounding", "double precision cannot represent the solutions for smaller lambdas"
    NUMERICAL = "numerical", "rounding errors or another numerical problem ended it"

    def __repr__(self):
        return repr(self.value)
