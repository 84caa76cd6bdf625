"""Work shared among processes: how many, in which order, and in which state."""

import warnings

import joblib
import pytest
from joblib.parallel import ThreadingBackend
from threadpoolctl import threadpool_info

from ordag.errors import OrdagWarning, SettingError
from ordag.workers import WAVE, as_worker, in_parallel, stopped_after, worker_count


class AllTogether(ThreadingBackend):
    """A backend without generators, such as Ray's."""

    supports_return_generator = False


def square(x):
    return x * x


def test_how_many():
    assert worker_count(2) == 2
    assert worker_count(None) == joblib.cpu_count()
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert worker_count(None) == 3
    for wrong in (0, -1, 1.5, True, "two"):
        with pytest.raises(SettingError, match="give a whole number, at least one"):
            worker_count(wrong)


@pytest.mark.parametrize("ordered", [True, False])
def test_every_batch_comes_back(ordered):
    joblib.register_parallel_backend("together", AllTogether)
    for backend in ("threading", "together"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            found = list(in_parallel(square, range(4 * WAVE), 2, ordered=ordered))
            assert found == [x * x for x in range(4 * WAVE)] if ordered else len(found) == 4 * WAVE
            assert list(in_parallel(square, [], 2, ordered=ordered)) == []


def test_the_rest_is_not_run_after_a_stop():
    with stopped_after(square(x) for x in range(10)) as results:
        assert next(results) == 0
    assert list(results) == []


def test_one_thread_and_no_warnings():
    with as_worker():
        warnings.warn("not to be seen", OrdagWarning, stacklevel=1)
        assert {library["num_threads"] for library in threadpool_info()} <= {1}
