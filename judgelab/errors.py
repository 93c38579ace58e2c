"""Errors that a user can act on; an entry point prints their message without a traceback."""


class JudgelabError(Exception):
    """Base of every error whose message alone tells the user what to do."""


class ConfigError(JudgelabError):
    """A configuration key or value that cannot be used: names key, value, expectation and nearest valid key."""


class DataError(JudgelabError):
    """Input data that cannot be used: names the file and the row, and what was expected there."""


class RunFolderError(JudgelabError):
    """A run folder that is in use, or belongs to another run."""


class ScoringError(JudgelabError):
    """A scoring run in which some requests got no reply; the same command asks those again."""


class TrainingError(JudgelabError):
    """A training run that would not learn what was asked (no target, no gradient, no step)."""
