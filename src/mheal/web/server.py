"""The server of the page: what each address does. `security` decides who may ask."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ..exceptions import UserError
from .asked import asked_of, bug, content_of, explained, number_in, refused, rows_in, word_in
from .events import Events
from .project import Project, entries_of
from .security import Guard, Guarded
from .store import LONGEST, Action
from .views import Views
from .worker import Worker

SIDES = {"small": 160, "large": 1024}  # pixels of an image's longer side
KEPT = 400  # images that are kept in memory
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class Page:
    """The application.

    views : the project and its pool, and who they are for
    images : the folder of the images and their names in it; None where the items are no images
    """

    def __init__(
        self, project: Project, worker: Worker, views: Views, guard: Guard, images: tuple[Path, set[str]] | None
    ) -> None:
        self.project, self.worker, self.views, self.guard, self.images = project, worker, views, guard, images
        self.events = Events(project, views.totals)
        worker.publish = self.events.publish
        self.static = {
            one.name: one.read_bytes() for one in files(__package__).joinpath("static").iterdir() if one.is_file()
        }
        self._image = lru_cache(KEPT)(self._made)
        get, post = ["GET"], ["POST"]
        self.app = Guarded(
            Starlette(
                routes=[
                    Route("/", self.file, methods=get),
                    Route("/static/{name}", self.file, methods=get),
                    Route("/api/state", self.state, methods=get),
                    Route("/api/events", self.stream, methods=get),
                    Route("/api/item/{row:int}", self.item, methods=get),
                    Route("/api/context/{row:int}", self.context, methods=get),
                    Route("/api/image/{row:int}", self.image, methods=get),
                    Route("/api/list", self.list, methods=get),
                    Route("/api/plan", self.plan, methods=get),
                    Route("/api/map", self.map, methods=get),
                    Route("/api/marks", self.marks, methods=get),
                    Route("/api/export/{form}", self.export, methods=get),
                    Route("/api/next", self.next, methods=post),
                    Route("/api/act", self.act, methods=post),
                    Route("/api/classes", self.classes, methods=post),
                    Route("/api/budget", self.budget, methods=post),
                    Route("/api/pick", self.pick, methods=post),
                    Route("/api/queue", self.queue, methods=post),
                    Route("/api/import", self.load, methods=post),
                ],
                exception_handlers={UserError: explained, ClientDisconnect: explained, Exception: bug},
                lifespan=self._life,
            ),
            guard,
        )

    @asynccontextmanager
    async def _life(self, _: Any) -> AsyncIterator[None]:
        self.events.start()
        self.worker.changed()
        yield
        self.events.stop()

    async def file(self, request: Request) -> Response:
        """A file of the front end."""
        name = request.path_params.get("name", "index.html")
        if name not in self.static:
            return refused(404, "there is no such file")
        kind = TYPES.get(Path(name).suffix, "text/plain")
        return Response(self.static[name], media_type=kind, headers={"cache-control": "no-cache"})

    async def state(self, request: Request) -> Response:
        """The state of the project; the page learns its CSRF token here, which other pages cannot read."""
        return JSONResponse({**self.views.state(), "csrf": self.guard.csrf})

    async def stream(self, request: Request) -> Response:
        """Server-sent events."""
        tab = word_in(request.query_params.get("tab"), "tab")
        return StreamingResponse(self.events.stream(tab), media_type="text/event-stream")

    async def item(self, request: Request) -> Response:
        """One item."""
        found = await self._items([request.path_params["row"]])
        return JSONResponse(found[0]) if found else refused(404, "the pool has no such row")

    async def context(self, request: Request) -> Response:
        """What helps to label an item."""
        return JSONResponse(await run_in_threadpool(self.views.context, request.path_params["row"]))

    async def image(self, request: Request) -> Response:
        """An image, decoded with limits and made anew."""
        side = SIDES.get(request.query_params.get("side", "large"))
        found = await self._items([request.path_params["row"]])
        if self.images is None or side is None or not found or found[0]["name"] not in self.images[1]:
            return refused(404, "the pool has no such image")
        made = await run_in_threadpool(self._image, found[0]["name"], side)
        if isinstance(made, str):
            return refused(415, made)
        kind = "image/png" if made.startswith(b"\x89PNG") else "image/jpeg"
        return Response(made, media_type=kind, headers={"cache-control": "private, max-age=600"})

    async def list(self, request: Request) -> Response:
        """A page of items to review."""
        asked = request.query_params
        offset = int(asked.get("offset", "0")) if asked.get("offset", "0").isdecimal() else 0
        show, words = asked.get("show", "labelled"), asked.get("q", "")[:LONGEST]
        return JSONResponse(await run_in_threadpool(self.views.list, show, asked.get("label"), words, offset))

    async def plan(self, request: Request) -> Response:
        """The learning curve; it is computed in the background where labels have changed."""
        if self.worker.pool is not None and len(self.project.labels) >= 20:
            self.worker.make_plan()
        plan = self.worker.plan or {}
        return JSONResponse({name: value for name, value in plan.items() if name != "labels"})

    async def map(self, request: Request) -> Response:
        """The map, or 202 while it is drawn."""
        made = await run_in_threadpool(self.project.store.cached, "map", self.worker.key)
        if made is None:
            self.worker.map()
            return JSONResponse(self.worker.statuses()["map"], 202)
        return Response(made, media_type="application/octet-stream")

    async def marks(self, request: Request) -> Response:
        """Labels and picks on the map."""
        return JSONResponse(self.views.marks())

    async def next(self, request: Request) -> Response:
        """Items for a tab to label, which it holds from now on; with want=0 it frees all it does not name."""
        asked = await asked_of(request)
        hold, want = rows_in(asked.get("hold", [])), number_in(asked.get("want", 5), 50)
        rows = self.project.next(word_in(asked.get("tab"), "tab"), hold, want)
        self.worker.changed()
        return JSONResponse({"items": await self._items(rows), **self.views.totals()})

    async def act(self, request: Request) -> Response:
        """Label, skip, clear or undo. The answer comes when it is on disk."""
        asked = await asked_of(request)
        kind, label = asked.get("kind"), asked.get("label")
        if kind not in ("label", "skip", "clear", "undo") or not isinstance(label, str | None):
            return refused(400, "an action is label, skip, clear or undo")
        rows = [] if kind == "undo" else rows_in(asked.get("rows"))
        shown = {item["row"] for item in await self._items(rows)}
        if kind != "undo" and (not rows or not shown.issuperset(rows)):
            return refused(404, "the pool has no such row")
        action = Action(
            word_in(asked.get("request"), "request"), time.time(), word_in(asked.get("tab"), "tab"),
            word_in(asked.get("who", ""), "who", 0), kind, entries_of(rows, label if kind == "label" else None),
        )  # fmt: skip
        return JSONResponse(await self._act(action))

    async def _act(self, action: Action) -> dict[str, Any]:
        rows, pool = [row for row, _ in action.entries if row not in self.project.items], self.worker.pool
        items = await run_in_threadpool(pool.items, rows) if rows and pool is not None else {}

        def work() -> dict[str, Any]:
            self.project.add_items(items)
            return self.project.act(action)

        done = await self._write(work)
        self.events.publish({"type": "act", **done})
        self.worker.changed()
        return {**done, **self.views.totals()}

    async def classes(self, request: Request) -> Response:
        """Add a class."""
        name = str((await asked_of(request)).get("name", ""))
        name = await self._write(lambda: self.project.add_class(name))
        self.events.publish({"type": "classes", **self.views.totals()})
        return JSONResponse({"name": name, **self.views.totals()})

    async def budget(self, request: Request) -> Response:
        """Change the budget."""
        budget = number_in((await asked_of(request)).get("budget"), 10_000_000, 1)
        await self._write(lambda: self.project.set_budget(budget))
        self.events.publish({"type": "classes", **self.views.totals()})
        self.worker.changed()
        return JSONResponse(self.views.totals())

    async def pick(self, request: Request) -> Response:
        """Pick more in the background."""
        n = number_in((await asked_of(request)).get("n", 50), 10_000, 1)
        if self.worker.pool is None:
            return refused(409, "the pool is still being read")
        return JSONResponse({"started": self.worker.pick(n)})

    async def queue(self, request: Request) -> Response:
        """Put rows that somebody chose before the other picks."""
        asked = await asked_of(request)
        rows = [row for row in rows_in(asked.get("rows")) if row not in self.project.labels]
        found = await self._items(rows)
        items = {one["row"]: (one["name"], one["content"]) for one in found}
        if self.worker.pool is not None:
            items = await run_in_threadpool(self.worker.pool.items, rows)
        chosen = [(row, "You chose it on the map.") for row in items]
        await self._write(lambda: self.project.add_picks(chosen, items, first=True))
        self.events.publish({"type": "picks", **self.views.totals()})
        return JSONResponse({"queued": len(chosen), **self.views.totals()})

    async def export(self, request: Request) -> Response:
        """The labels as a file."""
        from .export import FORMATS, TYPES, exported

        form, pool = request.path_params["form"], self.worker.pool
        if form not in FORMATS:
            return refused(404, f"labels are exported as {', '.join(FORMATS)}")
        if pool is None:
            return refused(409, "the pool is still being read")
        escape = request.query_params.get("spreadsheet") == "1"
        made = await run_in_threadpool(exported, self.project, pool, form, escape)
        headers = {"content-disposition": f'attachment; filename="labels{FORMATS[form]}"'}
        return Response(made, media_type=TYPES.get(form, "application/json"), headers=headers)

    async def load(self, request: Request) -> Response:
        """Labels from a file, which is the body."""
        from .export import MOST, imported

        if self.worker.pool is None:
            return refused(409, "the pool is still being read")
        name, content = Path(request.query_params.get("name", "labels.csv")).name, await content_of(request, MOST)
        entries, notes = await run_in_threadpool(imported, content, name, self.worker.pool)
        for label in dict.fromkeys(str(label) for _, label in entries):
            await self._write(lambda label=label: self.project.add_class(label))  # type: ignore[misc]
        ids = (word_in(request.query_params.get(part), part) for part in ("request", "tab"))
        done = await self._act(Action(next(ids), time.time(), next(ids), f"file {name}"[:LONGEST], "import", entries))
        return JSONResponse({**done, "rows": [], "imported": len(entries), "notes": notes})

    async def _items(self, rows: Sequence[int]) -> Sequence[dict[str, Any]]:
        """Items; another thread reads those that are not in memory yet."""
        if self.project.items.keys() >= {*rows}:
            return self.views.items(rows)
        return await run_in_threadpool(self.views.items, rows)

    async def _write(self, work: Callable[[], Any]) -> Any:
        return await asyncio.wrap_future(self.project.store.write(work))

    def _made(self, name: str, side: int) -> bytes | str:
        from .pool import image_bytes

        assert self.images is not None
        return image_bytes(self.images[0], name, side)
