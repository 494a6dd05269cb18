"""Progress bars and interrupts."""

import ctypes
import os
import sys
import threading
from _thread import start_new_thread
from collections.abc import Callable
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cached_property, partial, wraps
from time import perf_counter, sleep
from typing import Any, TypeVar
from weakref import ref


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
    """Print to stderr how long numba compiled during a call if it took 0.1 s or more.

    Other compilers and other processes are not counted.
    """

    def compiled():
        jit = sys.modules.get("rankbook.base.jit")  # imported, like numba, when it is needed
        return jit.WAITING.seconds if jit else 0.0

    start, before = perf_counter(), compiled()
    yield
    if (spent := compiled() - before) >= 0.1:
        text = f"compiling took {spent:.1f} of the {perf_counter() - start:.1f} s of {who}"
        print(f"rankbook: {text}", file=sys.stderr, flush=True)


def numba_threads():
    """Number of threads that numba would use when called by this thread."""
    numba = sys.modules.get("numba")
    if numba is None:
        return int(os.environ.get("NUMBA_NUM_THREADS", sys.maxsize))
    has_begun = getattr(sys.modules.get("numba.np.ufunc.parallel"), "_is_initialized", False)
    # asking numba would start its threads, after which a process must not fork
    return numba.get_num_threads() if has_begun else numba.config.NUMBA_NUM_THREADS


# List with the frame of the main thread that waits for a call, and the number of threads that it
# allows, emptied afterwards: event loops keep copies of a context, and these must not keep the
# caller's objects.
WAITING = ContextVar("WAITING", default=())


Function = TypeVar("Function", bound=Callable[..., Any])


def interruptible(function: Function) -> Function:
    """Wrap a function so that Ctrl-C ends it within a second, even in compiled code.

    The function is called directly outside the main thread, under a profiler or debugger of the
    main thread, and if there is no memory for a thread.
    """
    monitoring = getattr(sys, "monitoring", None)  # Python 3.12 and later

    @wraps(function)
    def call(*args, **options):
        profiled = monitoring and monitoring.get_tool(monitoring.PROFILER_ID)
        watched = profiled or sys.getprofile() or sys.gettrace()
        if watched or threading.get_ident() != threading.main_thread().ident:
            return function(*args, **options)
        outcome, context, running = [], copy_context(), threading.Lock()
        running.acquire()
        waiting = [sys._getframe(1), numba_threads()]
        context.run(WAITING.set, waiting)

        def work(mark):
            try:
                outcome.append((function(*args, **options), None))
            except BaseException as error:  # noqa: BLE001 -- raised again by the main thread
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
                pass
        except KeyboardInterrupt:
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

    return call


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
    """End this process when another one has become its parent; Windows keeps the number."""
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
