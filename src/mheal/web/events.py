"""Server-sent events: what one tab does, the others see."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from .project import LEAVING, Project

TOGETHER = 0.05  # seconds in which labels are gathered into one event
BEAT = 15.0  # seconds between signs of life
LONGEST = 2_000  # events that a tab may be behind
MOST = 200  # tabs


class Events:
    """The open tabs, and what they are sent. `publish` may be called by any thread, all else by the event loop."""

    def __init__(self, project: Project, totals: Callable[[], dict[str, Any]]) -> None:
        self.project, self.totals = project, totals
        self.tabs: dict[asyncio.Queue[bytes | None], str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._acts: list[dict[str, Any]] = []

    def start(self) -> None:
        """Use the loop that is running."""
        self._loop = asyncio.get_running_loop()

    def stop(self) -> None:
        """End all streams."""
        for tab in self.tabs:
            with suppress(asyncio.QueueFull):
                tab.put_nowait(None)

    def publish(self, event: dict[str, Any]) -> None:
        """Send an event to all tabs."""
        if self._loop is not None and not self._loop.is_closed():
            with suppress(RuntimeError):  # it closes just now
                self._loop.call_soon_threadsafe(self._publish, event)

    async def stream(self, tab: str) -> AsyncIterator[bytes]:
        """The events for a tab. When it leaves, its items are free again after a moment."""
        if len(self.tabs) >= MOST:
            return
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(LONGEST)
        self.tabs[queue] = tab
        try:
            yield b"retry: 1000\nevent: hello\ndata: {}\n\n"
            while True:
                self.project.renew(tab)
                message: bytes | None = b": still here\n\n"
                with suppress(TimeoutError):
                    message = await asyncio.wait_for(queue.get(), BEAT)
                if message is None:
                    return
                yield message
        finally:
            del self.tabs[queue]
            if tab not in self.tabs.values():
                self.project.renew(tab, LEAVING)

    def _publish(self, event: dict[str, Any]) -> None:
        if event["type"] != "act":
            self._send(event)
            return
        self._acts.append(event)
        if len(self._acts) == 1 and self._loop is not None:
            self._loop.call_later(TOGETHER, self._flush)

    def _flush(self) -> None:
        acts, self._acts = self._acts, []
        self._send({"type": "acts", "acts": acts, **self.totals()})

    def _send(self, event: dict[str, Any]) -> None:
        message = f"data: {json.dumps(event)}\n\n".encode()
        for queue in [*self.tabs]:
            try:
                queue.put_nowait(message)
            except asyncio.QueueFull:  # too far behind: it connects again and reads the state
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait(None)
