"""Progress bars, interrupts, and pieces of long computations on several threads.

Compiled loops, and NumPy's functions on large arrays, release Python's lock. A computation is split
into pieces that depend only on the data, and the results of the pieces are combined in order, so
they do not depend on the number of threads. Products by BLAS may differ in the last digits if BLAS
itself may use several threads and this package may not. Compiling for several threads with
``numba.njit(parallel=True)`` would take several times as long.
"""

import ctypes
import os
import sys
import threading
from _thread import start_new_thread
from collections.abc import Callable
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cached_property, lru_cache, partial, wraps
from time import perf_counter, sleep
from typing import Any, TypeVar
from weakref import ref

from .messages import LOG


class progress_bar:
    """Progress bar over steps, shown only on request.

    The context manager returns a function to call with the number of steps done and a text.
    """

    def __init__(self, show, unit):
        self.show, self.unit = show, unit

    def __enter__(self):
        if not self.show:
            return lambda done, text: None
        from tqdm.auto import tqdm

        self.bar = tqdm(unit=f" {self.unit}", unit_scale=True, leave=False)
        return self.move

    def move(self, done, text):
        """Show the number of steps done and the text."""
        self.bar.set_postfix_str(text, refresh=False)  # first, as `update` is what draws
        self.bar.update(done - self.bar.n)

    def __exit__(self, *error):
        if self.show:
            self.bar.close()


@contextmanager
def telling_compilation(who):
    """Log how long numba compiled during a call if it took 0.1 s or more.

    Other compilers and other processes are not counted.
    """

    def compiled():
        jit = sys.modules.get("rankbook.base.jit")  # imported, like numba, when it is needed
        return jit.WAITING.seconds if jit else 0.0

    start, before = perf_counter(), compiled()
    yield
    if (spent := compiled() - before) >= 0.1:
        LOG.info(f"compiling took {spent:.1f} of the {perf_counter() - start:.1f} s of {who}")


def numba_threads():
    """Number of threads that numba would use when called by this thread."""
    numba = sys.modules.get("numba")
    if numba is None:
        return int(os.environ.get("NUMBA_NUM_THREADS", sys.maxsize))
    has_begun = getattr(sys.modules.get("numba.np.ufunc.parallel"), "_is_initialized", False)
    # asking numba would start its threads, after which a process must not fork
    return numba.get_num_threads() if has_begun else numba.config.NUMBA_NUM_THREADS


# List with the frame of the thread that waits for a call, the number of threads that it allows, and
# whether it is the main thread. It is emptied afterwards: event loops keep copies of a context, and
# these must not keep the caller's objects.
WAITING = ContextVar("WAITING", default=())


PRESSES = []  # times at which Ctrl-C ended a call of the main thread


def main_is_interrupted():
    """Whether the main thread handles a KeyboardInterrupt, or has ended by one.

    Python raises this exception in the main thread only. Other threads see it while, for example,
    the main thread leaves the block of a ThreadPoolExecutor, or waits for them in its last moment.
    """
    main = threading.main_thread()
    if main.is_alive():
        error = sys._current_exceptions().get(main.ident)
        error = error[1] if isinstance(error, tuple) else error  # Python 3.11
    else:
        error = getattr(sys, "last_value", None)
    return isinstance(error, KeyboardInterrupt)


Function = TypeVar("Function", bound=Callable[..., Any])


def interruptible(function: Function) -> Function:
    """Wrap a function so that Ctrl-C ends it within a second, even in compiled code.

    In other threads than the main thread, Ctrl-C ends it if it ended a call of the main thread, or
    while the main thread handles the exception; see :func:`main_is_interrupted`. The function is
    called directly within another such call, under a profiler or debugger of this thread, and if
    there is no memory for a thread.
    """
    monitoring = getattr(sys, "monitoring", None)  # Python 3.12 and later

    @wraps(function)
    def call(*args, **options):
        profiled = monitoring and monitoring.get_tool(monitoring.PROFILER_ID)
        if profiled or sys.getprofile() or sys.gettrace() or WAITING.get():
            return function(*args, **options)
        return in_helper(function, args, options)

    return call


def in_helper(function, args, options):
    """Call a function in a new thread, and wait until it ends or Ctrl-C is pressed."""
    is_main = threading.get_ident() == threading.main_thread().ident
    outcome, context, running, before = [], copy_context(), threading.Lock(), len(PRESSES)
    running.acquire()
    waiting = [sys._getframe(2), numba_threads(), is_main]
    context.run(WAITING.set, waiting)

    def work(mark):
        try:
            outcome.append((function(*args, **options), None))
        except BaseException as error:  # noqa: BLE001 -- raised again by the waiting thread
            outcome.append((None, error))
        running.release()

    # Thread.start would wait forever for a thread that cannot allocate its memory. This mark
    # lives as long as the thread.
    mark = set()
    alive, thread = ref(mark), None
    try:
        with suppress(RuntimeError):  # no thread can be started
            thread = start_new_thread(context.run, (work, mark))
        del mark
        while alive() is not None and not running.acquire(timeout=0.1):
            if not is_main and (len(PRESSES) > before or main_is_interrupted()):
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        if is_main:
            PRESSES.append(perf_counter())
        if thread is not None:
            stop = ctypes.pythonapi.PyThreadState_SetAsyncExc
            stop(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
            running.acquire(timeout=0.5)
        raise
    finally:
        waiting.clear()
    if not outcome:
        return function(*args, **options)
    value, error = outcome.pop()
    try:
        if error is not None:
            raise error
        return value
    finally:
        del error


WORTH = 5e-3  # seconds; a shorter computation does not start threads
INSIDE = ContextVar("INSIDE", default=False)  # whether this code is part of a piece


@lru_cache
def blas_libraries():
    """Return the loaded BLAS libraries."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def in_main_thread():
    """Whether this thread is the main thread, or computes while the main thread waits for it."""
    waiting = WAITING.get()
    return waiting[2] if waiting else threading.get_ident() == threading.main_thread().ident


OUTSIDE = ContextVar("OUTSIDE", default=None)  # threads of BLAS outside of `on_one_blas_thread`


def on_one_blas_thread(function):
    """Wrap a function so that BLAS uses one thread in it; `thread_count` ignores this limit.

    The sums of BLAS then do not depend on its number of threads. The limit holds for the whole
    process, so only the main thread sets it. Where threadpoolctl has limited BLAS already, from
    another thread, that limit remains.
    """

    @wraps(function)
    def call(*args, **options):
        if OUTSIDE.get() or not in_main_thread():
            return function(*args, **options)
        token = OUTSIDE.set([library["num_threads"] for library in blas_libraries().info()])
        try:
            with blas_libraries().limit(limits=1):
                return function(*args, **options)
        finally:
            OUTSIDE.reset(token)

    return call


def thread_count():
    """Return the number of threads that a computation may use.

    It is the smallest of the available processors, numba's threads (NUMBA_NUM_THREADS or
    ``numba.set_num_threads``) and the threads of BLAS (OPENBLAS_NUM_THREADS or
    ``threadpoolctl.threadpool_limits``). It is 1 within a piece, in child processes of Python's
    multiprocessing, and in threads other than the main thread, for example in workers of joblib and
    Dask, because these already use all processors.
    """
    waiting = WAITING.get()  # of the main thread, if it waits for this one
    if INSIDE.get() or not in_main_thread():
        return 1
    from multiprocessing import parent_process

    from joblib import cpu_count

    if parent_process() is not None:
        return 1

    limits = [cpu_count(), waiting[1] if waiting else numba_threads()]
    limits += OUTSIDE.get() or [library["num_threads"] for library in blas_libraries().info()]
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
    >>> from rankbook.base.progress import in_threads
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


def for_worker(function):
    """Wrap a function for joblib like `delayed`; a worker ends if this process is killed."""
    from joblib import delayed

    return delayed(partial(_in_worker, os.getpid(), function))


def _in_worker(owner, function, *args, **options):
    """Call a function, and watch the parent process if this is another process than `owner`."""
    if os.getpid() != owner and not WATCHING:
        WATCHING.append(start_new_thread(_end_with, (os.getppid(),)))
    return function(*args, **options)


WATCHING = []  # the thread of a worker that waits for the end of its parent


def _end_with(parent):
    """End this process when its parent has died, which cannot be seen on Windows."""
    while os.getppid() == parent:
        sleep(0.5)
    os._exit(1)


def renew_locks():
    """Give every cached property of the package a new, unlocked lock."""
    for name, module in list(sys.modules.items()):
        if name.startswith("rankbook."):
            for kind in [kind for kind in vars(module).values() if isinstance(kind, type)]:
                for member in vars(kind).values():
                    if isinstance(member, cached_property):
                        vars(member)["lock"] = threading.RLock()


if sys.version_info < (3, 12) and hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=renew_locks)
