"""Blocks on a Dask cluster."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, ref

import numpy as np

from ..base.ownership import own
from .blocks import GROUP, Blocks, Parts, Stored, added, in_groups, nbytes_of

if TYPE_CHECKING:
    from dask.distributed import Client


def require_scheduler(client):
    """A ConnectionError unless the scheduler answers."""
    if client.status != "running":
        address = getattr(client.scheduler, "address", "that was given")
        raise ConnectionError(
            f"the Dask scheduler {address} does not answer (the client is {client.status}), and "
            "what its workers held is gone; a client of a running scheduler is accepted."
        )


def lost_blocks(blocks):
    """The names of blocks that no worker has, and that cannot be made again."""
    values = zip(blocks.names, blocks.items.values)
    return [name for name, value in values if getattr(value, "status", "") in ("cancelled", "lost")]


LOST_AGAIN = (
    "workers are lost again and again over the same work, usually because they lack memory; "
    "use workers with more memory, or smaller blocks."
)
PATIENCE, RESTARTS = 60.0, 4  # seconds that all workers may pause; how often each may be lost


def wait_for(client, futures):
    """Wait for futures; a RuntimeError if workers are lost without end, or all of them pause.

    Dask counts only the deaths during a task, and resumes a worker only when it frees memory.
    """
    from distributed import TimeoutError, wait

    states = lambda dask_scheduler: {
        address: worker.status.name for address, worker in dask_scheduler.workers.items()
    }
    known, most, lost, active = {}, 0, 0, time.monotonic()
    while True:
        try:
            return wait(futures, timeout=1)
        except TimeoutError:
            if any(future.status == "error" for future in futures):
                return None
        found = client.run_on_scheduler(states)
        lost, most = lost + len(known.keys() - found.keys()), max(most, len(found))
        known = found
        if lost > RESTARTS * max(most, 1):
            raise RuntimeError(LOST_AGAIN)
        if set(found.values()) - {"paused"} or not most:
            active = time.monotonic()
        if time.monotonic() - active > PATIENCE:
            raise RuntimeError(
                f"all workers have paused or are gone for {PATIENCE:.0f} s, usually for lack of "
                "memory; use workers with more memory, or smaller blocks."
            )


@contextmanager
def explaining(blocks):
    """Say who is gone, in place of "cancelled"."""
    require_scheduler(blocks.client)
    if blocks.is_released:
        raise RuntimeError("these blocks were released; blocks that are sent anew are accepted.")
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise RuntimeError(LOST_AGAIN) from error
    except CancelledError as error:
        require_scheduler(blocks.client)
        lost = lost_blocks(blocks)
        raise RuntimeError(
            f"{', '.join(lost[:3]) or 'a value'}{' and others' * (len(lost) > 3)}: lost, with the "
            "worker that had it; it was sent from memory and cannot be made again. "
            "Blocks that are sent anew, or read by the workers, are accepted."
        ) from error


class Step:
    """A function of parts: a note, or where its values are.

    Attributes
    ----------
    function, arguments
        Steps are replaced by their value for the block; all else is the same for every block.
    values, place
        What a task is given, one for each block, or None before they are computed; the value is at
        this place of it, or is the whole of it.
    """

    def __init__(self, function=None, arguments=(), values=None, place=None):
        self.function, self.arguments, self.values, self.place = function, arguments, values, place
        self.parts = lambda: None  # who may ask for it

    def computed(self, values, place):
        """From now on the values are there."""
        self.function, self.arguments, self.values, self.place = None, (), values, place


class StepParts(Parts):
    """Parts that are a step."""

    def __init__(self, blocks, step):
        self.blocks, self.step = blocks, step
        step.parts = ref(self)

    @property
    def values(self):
        """Futures of the values, one for each block."""
        return self.blocks.values_of(self.step)


@dataclass(frozen=True)
class Given:
    """Of what a task is given: its number, and the place in it."""

    number: int
    place: int | None


@dataclass(frozen=True)
class Found:
    """The number of a step that the task has run."""

    number: int


def planned(last):
    """What a task runs for a step.

    Returns
    -------
    plan : list of (function, list of arguments)
    steps : list of Step
        Those of the plan.
    given : list
        The values of blocks that it needs.
    """
    plan, numbers, given = [], {}, {}

    def visit(step):
        if not isinstance(step, Step):
            return step
        if step.values is not None:
            return Given(
                given.setdefault(id(step.values), (len(given), step.values))[0], step.place
            )
        if step not in numbers:
            plan.append((step.function, [visit(each) for each in step.arguments]))
            numbers[step] = Found(len(plan) - 1)
        return numbers[step]

    visit(last)
    return plan, list(numbers), [values for _, values in given.values()]


@dataclass(frozen=True)
class Kept:
    """What a worker keeps of a block; Dask asks for its size, to leave it where it is."""

    values: list

    def __getitem__(self, place):
        return self.values[place]

    def __sizeof__(self):
        return nbytes_of(self.values)


def run(plan, kept, *given):
    """The value of the last step of a plan; before it those of other steps, if any are kept.

    What is stored is read once.
    """
    given, found = [each.read() if isinstance(each, Stored) else each for each in given], []

    def value(argument):
        if isinstance(argument, Found):
            return found[argument.number]
        if isinstance(argument, Given):
            whole = given[argument.number]
            return whole if argument.place is None else whole[argument.place]
        return argument

    for function, arguments in plan:
        found.append(function(*map(value, arguments)))
    return Kept([found[k] for k in (*kept, -1)]) if kept else found[-1]


LARGE = 1 << 16  # bytes of an argument that is sent once, and not with each task


def itself(value):
    """The value: a task that holds what is sent once."""
    return value


class DaskBlocks:
    """Blocks of whole queries on the workers of a Dask cluster.

    It has the interface of :class:`rankbook.data.blocks.Blocks`, and the same sums to the last bit.
    See :func:`rankbook.dask_blocks`, which makes it.

    Parameters
    ----------
    client : dask.distributed.Client
        Of the cluster.
    values : sequence of Future or Stored
        The blocks: futures stay on their workers, stored ones are read by a worker for each sum.
    names : sequence of str
        What an error calls them.

    Attributes
    ----------
    items : Parts
        The blocks themselves.

    Raises
    ------
    ConnectionError
        From a sum, if the scheduler is gone.
    RuntimeError
        If a block is lost that nobody can make again, with its name.
    """

    def __init__(self, client: "Client", values: Sequence[Any], names: Sequence[str]) -> None:
        self.client, self.names = client, tuple(names)
        self.is_released, self._steps, self._last = False, WeakSet(), ()
        self.items = Parts(self, values)
        self.is_stored = any(isinstance(value, Stored) for value in self.items.values)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"DaskBlocks({len(self)} blocks, {self.client.scheduler_info()['address']})"

    def map(self, function: Callable[..., Any], *arguments: Any) -> Parts:
        """The function's values, one for each block, as :class:`Parts` on the workers.

        They are computed with the first sum that needs them.
        """
        return StepParts(self, self._step(function, arguments))

    def reduce(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        combine: Callable[[Any, Any], Any] = added,
    ) -> Any:
        """The sum of the function's values, in the order of the blocks and in groups."""
        with explaining(self):
            kept, futures = self._sent(self._step(function, arguments))
            found = self._picked(futures, len(kept)) if kept else futures
            while len(found) > GROUP:
                groups = [found[i : i + GROUP] for i in range(0, len(found), GROUP)]
                found = [self._once(partial(in_groups, combine), group) for group in groups]
            try:
                wait_for(self.client, found)
                answer = in_groups(combine, self.client.gather(found))
            except BaseException:  # an interrupt, too: nobody waits for the others
                for future in (*futures, *found):
                    future.release()
                raise
        for place, step in enumerate(kept):
            step.computed(futures, place)
            self._steps.add(step)
        self._last = found  # to be forgotten with the next message, not in one of its own
        return answer

    def values_of(self, step: Step) -> list:
        """Futures of the values of a step, one for each block."""
        with explaining(self):
            kept, futures = self._sent(step)
            return self._picked(futures, len(kept)) if kept else futures

    def release(self) -> None:
        """Let the workers forget the blocks, and all that was made of them."""
        self.is_released, self._last = True, ()
        for values in (self.items.values, *(step.values for step in self._steps)):
            for value in values:
                getattr(value, "release", lambda: None)()

    def _step(self, function, arguments):
        """The note of a function; a large argument is sent at once."""
        return Step(function, tuple(map(self._argument, arguments)))

    def _argument(self, argument):
        """Parts as a step; an array as a copy, or as a step of one future if it is large."""
        if isinstance(argument, StepParts):
            return argument.step
        if isinstance(argument, Parts):
            return Step(values=argument.values)
        if isinstance(argument, np.ndarray):
            argument = own(argument)
            if argument.nbytes > LARGE:
                return Step(values=(self._once(itself, argument),) * len(self))
        return argument

    def _once(self, function, value):
        """A future of a function of one value, which travels once."""
        return self.client.submit(function, value, pure=False)

    def _sent(self, last):
        """Steps whose values are kept, and futures of what runs for each block: one message."""
        plan, steps, given = planned(last)
        places = [k for k, step in enumerate(steps[:-1]) if step.parts() is not None]
        function = partial(run, plan, places)
        name = getattr(last.function, "__name__", type(last.function).__name__)
        futures = self.client.map(function, *given, key=name, pure=False)
        return [steps[k] for k in places], futures

    def _picked(self, futures, place):
        """Futures of what is at one place of others' values."""
        return self.client.map(itemgetter(place), futures, key="result", pure=False)


def sent_out(blocks: Blocks, client: "Client", keep: bool = False) -> DaskBlocks:
    """The blocks of this process on the workers of a cluster, see :func:`rankbook.dask_blocks`."""
    values, read = list(blocks.items.values), [isinstance(v, Stored) for v in blocks.items.values]
    names = [getattr(value, "name", f"block {k}") for k, value in enumerate(values)]
    require_scheduler(client)
    try:
        own = [v for v, r in zip(values, read) if not r] or [None]
        sent = iter(client.scatter(own, hash=False))
    except OSError as error:  # a connection that a worker closed
        raise RuntimeError(
            f"a worker was lost while blocks were sent to it ({error}); use workers with more "
            "memory, or blocks that the workers read themselves."
        ) from error
    values = [value if is_read else next(sent) for value, is_read in zip(values, read)]
    if keep and any(read):
        values = client.map(partial(run, [(itself, [Given(0, None)])], []), values, pure=False)
    return DaskBlocks(client, values, names)
