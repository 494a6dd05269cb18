"""A plugin whose import fails."""

raise RuntimeError("the licence server does not answer")
