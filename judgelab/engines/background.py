"""Results of asynchronous work as a plain iterator."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def streamed(work: Callable[[Callable[[T], None]], Coroutine[Any, Any, None]]) -> Iterator[T]:
    """What `work` hands to the function it is given, as it comes; the work runs in a thread of its own.

    An error of the work is raised here behind its results. Closing the iterator cancels the work and waits for its end.
    """
    results: SimpleQueue[T | None] = SimpleQueue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(work(results.put))
    thread = Thread(target=_run, args=(loop, task, results), name="judgelab-engine", daemon=True)
    thread.start()
    try:
        while (result := results.get()) is not None:
            yield result
        task.result()
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        loop.close()


def _run(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[None]", results: "SimpleQueue[Any]") -> None:
    """Run the work to its end, however it ends, then close the stream with None."""
    try:
        loop.run_until_complete(asyncio.wait([task]))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        results.put(None)
