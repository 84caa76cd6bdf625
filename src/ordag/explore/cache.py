"""`Cache`: values that are kept to be used again, within bounds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """Values by their keys, of which those not used for longest go first when they weigh more than `most` together."""

    def __init__(self, most: int) -> None:
        self._most, self._weight = most, 0
        self._held: OrderedDict[Any, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any) -> Value | None:
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: Any, value: Value, weight: int) -> Value:
        with self._lock:
            self._weight += weight - self._held.pop(key, (value, 0))[1]
            self._held[key] = value, weight
            while self._weight > self._most and len(self._held) > 1:
                self._weight -= self._held.popitem(last=False)[1][1]
        return value

    def drop(self, unwanted: Callable[[Any], bool]) -> None:
        """Let the values go whose keys are unwanted."""
        with self._lock:
            for key in [key for key in self._held if unwanted(key)]:
                self._weight -= self._held.pop(key)[1]

    def __contains__(self, key: Any) -> bool:
        return key in self._held

    def __len__(self) -> int:
        return len(self._held)
