"""Pieces of long computations on several threads, with results that do not depend on their number.

Compiled loops, and NumPy's functions on large arrays, release Python's lock. A computation is split
into pieces that depend only on the data, and the results of the pieces are combined in order.
Products by BLAS may differ in the last digits if BLAS itself may use several threads and this
package may not.

Compiling for several threads with ``numba.njit(parallel=True)`` would take several times as long.
"""

import multiprocessing
import threading
from _thread import start_new_thread
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import lru_cache

from .progress import WAITING, numba_threads

WORTH = 5e-3  # seconds; a shorter computation does not start threads
INSIDE = ContextVar("INSIDE", default=False)  # whether this code is part of a piece


@lru_cache
def blas_libraries():
    """The loaded BLAS libraries."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def thread_count():
    """Return the number of threads that a computation may use.

    It is the smallest of the available processors, numba's threads (NUMBA_NUM_THREADS or
    ``numba.set_num_threads``) and the threads of BLAS (OPENBLAS_NUM_THREADS or
    ``threadpoolctl.threadpool_limits``). It is 1 within a piece, in child processes of Python's
    multiprocessing, and in threads other than the main thread, for example in workers of joblib and
    Dask, because these already use all processors.
    """
    waiting = WAITING.get()  # of the main thread, if it waits for this one
    is_main = waiting or threading.get_ident() == threading.main_thread().ident
    if INSIDE.get() or not is_main or multiprocessing.parent_process() is not None:
        return 1
    from joblib import cpu_count

    limits = [cpu_count(), waiting[1] if waiting else numba_threads()]
    limits += [library["num_threads"] for library in blas_libraries().info()]
    return max(1, min(limits))


def in_threads(function, pieces, seconds):
    """Compute ``[function(piece) for piece in pieces]``, on several threads if that is faster.

    Parameters
    ----------
    function : callable
        May not write to memory that another piece reads or writes. If it fails for a piece, the
        error is raised when the running pieces have ended, and no further piece begins.
    pieces : list
        Of a tenth of a second or less each, because Ctrl-C waits for their ends.
    seconds : float
        Estimated time of all pieces on one thread.

    Examples
    --------
    >>> from rankbook.base.threads import in_threads
    >>> in_threads(abs, [-2, 1, -3], 1.0)
    [2, 1, 3]
    """
    count = min(len(pieces), thread_count()) if len(pieces) > 1 and seconds > WORTH else 1
    if count == 1:
        return [function(piece) for piece in pieces]
    results, errors, todo = [None] * len(pieces), [], iter(range(len(pieces)))
    finished = threading.Semaphore(0)

    def work():
        for i in todo:  # each number is taken by one thread
            try:
                if not errors:
                    results[i] = function(pieces[i])
            except BaseException as error:  # noqa: BLE001 -- raised again below
                errors.append(error)
            finished.release()

    token = INSIDE.set(True)
    try:
        with blas_libraries().limit(limits=1):  # the threads share the processors already
            # Thread.start would wait forever for a thread that cannot allocate its memory. Here
            # the threads that run, this one at least, compute all pieces.
            for _ in range(count - 1):
                with suppress(RuntimeError):
                    start_new_thread(copy_context().run, (work,))
            work()
            for _ in pieces:
                finished.acquire()
    except BaseException as error:  # noqa: BLE001 -- raised again below; the others see it and stop
        errors.append(error)
    INSIDE.reset(token)
    if errors:
        raise errors.pop(0)
    return results
