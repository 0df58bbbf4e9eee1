"""Opens a project and serves its page until it is interrupted."""

import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from ..exceptions import UserError
from ..io.locate import locate
from ..io.source import Source
from .pool import Pool, packed, signature, unpacked
from .project import Project
from .security import Guard, is_local
from .store import SUFFIX, Store
from .views import Views
from .worker import Worker

LEAST_TOKEN = 16  # characters
SWITCH = 0.001  # seconds for which work in the background may keep a label waiting, each time it has the interpreter


@dataclass(frozen=True)
class Session:
    """A page to be served.

    pool : the path of the pool, as typed
    read : reads the pool; it is called with a function to report progress to
    options : what decides about the features, beside the files
    """

    pool: str
    read: Callable[[Any], Source]
    options: dict[str, Any] = field(default_factory=dict)
    classes: Sequence[str] = ()
    budget: int | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None

    def run(self, ready: Callable[[str], None], first_read: Callable[[Source], None] = lambda _: None) -> None:
        """Serve the page; `ready` gets its address once it can be opened, `first_read` the pool, if it is new."""
        from uvicorn import Config, Server

        from .server import Page

        token = _token(self.host, self.token)
        listening = _listening(self.host, self.port)
        located = locate(self.pool)
        store = Store(project_file(self.pool))
        try:
            key = signature(located, self.options)
            project = Project(store, self.classes, self.budget)
            worker = Worker(project, key, lambda event: None)
            kept = store.meta("pool") or {}
            if kept.get("key") != key:
                source = self.read(None)
                first_read(source)
                self._take_over(store, project, Pool(source), key)
                kept = store.meta("pool")
            else:
                source = None
            content = None if source is None else packed(source, located)
            if content is not None:
                store.write(lambda: store.cache("features", key, content)).result()

            def load(report: Any) -> Pool:
                if source is not None:
                    return Pool(source)
                found = store.cached("features", key)
                return Pool((found and unpacked(found, located)) or self.read(report))

            images = None
            if located.form == "images":
                images = located.base, {file.relative_to(located.base).as_posix() for file in located.files}
            views = Views(project, worker, str(kept["kind"]), Path(self.pool).name)
            page = Page(project, worker, views, Guard(self.host, token), images)
            config = Config(page.app, log_level="critical", timeout_graceful_shutdown=1, server_header=False)
            server = Server(config)
            sys.setswitchinterval(SWITCH)
            host, port = listening.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            worker.load(load)
            ready(f"http://{shown}:{port}/" + (f"?token={token}" if token else ""))
            server.run(sockets=[listening])
        finally:
            store.close()
            listening.close()

    def _take_over(self, store: Store, project: Project, pool: Pool, key: str) -> None:
        """Let the project belong to the pool as it is now."""
        name, kept = Path(self.pool).name, store.meta("pool")
        if isinstance(kept, dict) and kept.get("kind") != pool.source.kind:
            raise UserError(f"{store.path.name} belongs to a pool of {kept.get('kind')}, not of {pool.source.kind}")
        moved = pool.renamed(project.items, name)
        about = {"key": key, "kind": pool.source.kind}

        def work() -> None:
            store.move(moved)
            store.set_meta("pool", about)

        store.write(work).result()
        if moved:
            project.reload()


def project_file(pool: str) -> Path:
    """The project file of a pool: beside it, with its name; of a pattern of files, with the name of their folder."""
    path = Path(pool)
    if not path.exists():  # a pattern, or pool.npz:name
        located = locate(pool)
        path = located.files[0].parent if len(located.files) > 1 else located.files[0]
    path = path.resolve()
    return path.with_name(path.name + SUFFIX)


def _token(host: str, token: str | None) -> str | None:
    """The token that visitors must know: the one given or, where other machines can connect, a random one."""
    if token is not None and len(token) < LEAST_TOKEN:
        raise UserError(
            f"the token has {len(token)} characters: give at least {LEAST_TOKEN}, or none to get a random one"
        )
    return token or (None if is_local(host) else token_urlsafe(24))


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(256)
    except (OSError, OverflowError) as error:
        made.close()
        remedy = "give another --port, or end what uses it" if isinstance(error, OSError) else "give 1 to 65535"
        raise UserError(f"cannot listen at {host}:{port} ({error}): {remedy}") from error
    return made
