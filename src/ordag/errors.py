"""What can be wrong: each error says what, where, and what to change.

Everything derives from `OrdagError`; what concerns values (data, settings, graphs) is also a `ValueError`,
so that code which knows nothing of Ordag catches it in the usual way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z])")


class Remedy(NamedTuple):
    """A way to read a table that was refused: what to do, in a few words, and the settings of reading that do it."""

    words: str
    reading: Mapping[str, Any]


class OrdagError(Exception):
    """Anything that Ordag refuses to do, with the reason.

    `settings` are the parameters that the sentence calls by their bare names: who shows it may know them by other names.
    `remedies` are ways to go on, for who can offer them.
    """

    def __init__(self, message: str = "", settings: Iterable[str] = (), remedies: Iterable[Remedy] = ()) -> None:
        super().__init__(message)
        self.settings = tuple(settings)
        self.remedies = tuple(remedies)


class SettingError(OrdagError, ValueError):
    """A setting has a value it cannot have."""


class DataError(OrdagError, ValueError):
    """The data cannot be used as they are.

    `later` are the faults that stand behind this one, and `way` are the settings of reading that lead through all of them, where they
    have been looked for.
    """

    later: tuple[str, ...] = ()
    way: Mapping[str, Any] | None = None

    @property
    def fault(self) -> str:
        """What is wrong, without the advice: the first sentence."""
        return SENTENCE.split(super().__str__(), maxsplit=1)[0]

    @property
    def faults(self) -> str:
        """What is wrong here, and what else."""
        more = " ".join(self.later)
        return f"{super().__str__()} {f'Besides: {more}' if more else ''}".strip()

    def __str__(self) -> str:
        if not self.later or self.way is None:
            return self.faults
        return f"{self.faults} All of it at once: {', '.join(f'{name}={value!r}' for name, value in self.way.items())}."


class UnreadableError(DataError):
    """A file or an object could not be read as a table."""


class ColumnError(DataError):
    """The columns are not what was asked for: unknown, duplicated, or not numbers."""


class MissingValuesError(DataError):
    """Missing values that are refused, or too many of them."""


class NonFiniteError(DataError):
    """Infinite values, or values too large to add up in float64."""


class UnderflowError(DataError):
    """Values so close together that their squares vanish in float64."""


class ConstantColumnError(DataError):
    """A column that never changes."""


class TooFewRowsError(DataError):
    """Not enough rows for the number of variables."""


class CollinearError(DataError):
    """A column that is, to the last digit, a linear combination of others. `columns` are those involved, where they are known."""

    def __init__(
        self,
        message: str = "",
        settings: Iterable[str] = (),
        remedies: Iterable[Remedy] = (),
        columns: Iterable[str] = (),
    ) -> None:
        super().__init__(message, settings, remedies)
        self.columns = tuple(columns)


class CovarianceError(DataError):
    """A matrix that is not a covariance matrix."""


class PrecisionError(DataError):
    """The numbers are right but float64 does not hold enough digits of them for an answer."""


class GraphError(OrdagError, ValueError):
    """A graph that is not what it should be: cyclic, or with unknown nodes."""


class GraphFormatError(GraphError):
    """Text that cannot be read as a graph, or a graph that a format cannot hold."""


class OutputError(OrdagError, OSError):
    """A file that could not be written. What was there before is still there."""


class ClusterError(OrdagError, ConnectionError):
    """A cluster that cannot be reached, was lost, or failed at a task."""


class WorkerError(OrdagError, RuntimeError):
    """A process that shared the work was killed."""


class OrdagWarning(UserWarning):
    """Something the reader of the answer should know."""


class ColumnWarning(OrdagWarning):
    """Columns were set aside."""


class PrecisionWarning(OrdagWarning):
    """Some decisions rest on digits that float64 does not hold."""
