"""Helpers that serve a page in this process, and a client that sends the requests of a browser."""

import json
import socket
import threading
import time
import uuid
from contextlib import contextmanager
from http.client import HTTPConnection

import numpy as np
from uvicorn import Config, Server

from mheal.io.locate import locate
from mheal.io.read import read_pool
from mheal.web.pool import Pool, signature
from mheal.web.project import Project
from mheal.web.security import Guard
from mheal.web.serve import project_file
from mheal.web.server import Page
from mheal.web.store import Store
from mheal.web.views import Views
from mheal.web.worker import Worker


class Client:
    """One browser tab."""

    def __init__(self, port, tab=None):
        self.port, self.tab, self.cookie = port, tab or uuid.uuid4().hex, None
        self.csrf = json.loads(self.get("/api/state").body)["csrf"]

    def send(self, method, path, body=None, headers=None):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        answer.body = answer.read()
        connection.close()
        return answer

    def get(self, path, **headers):
        return self.send("GET", path, None, headers)

    def json(self, path):
        answer = self.get(path)
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    def post(self, path, body, **headers):
        own = {"x-mheal-csrf": self.csrf, "content-type": "application/json"}
        content = body if isinstance(body, bytes) else json.dumps(body)
        answer = self.send("POST", path, content, {**own, **headers})
        return answer.status, json.loads(answer.body)

    def act(self, kind, rows=(), label=None, who="", request=None):
        about = {"request": request or uuid.uuid4().hex, "tab": self.tab, "who": who}
        return self.post("/api/act", {**about, "kind": kind, "rows": [*rows], "label": label})

    def next(self, want=5, hold=()):
        return self.post("/api/next", {"tab": self.tab, "hold": [*hold], "want": want})[1]["items"]

    def wait(self, ready, seconds=120):
        """Wait until `ready(state)` is true, and return the state."""
        end = time.monotonic() + seconds
        while not ready(state := self.json("/api/state")):
            failed = [job["what"] for job in state["jobs"].values() if job["state"] == "failed"]
            assert not failed, failed
            assert time.monotonic() < end, state
            time.sleep(0.05)
        return state


@contextmanager
def page(pool, classes=(), budget=None, guard=None):
    """A page for a pool at a free port; yields its port and the parts of it."""
    located, store = locate(pool), Store(project_file(str(pool)))
    source = read_pool(pool)
    project = Project(store, classes, budget)
    worker = Worker(project, signature(located, {}), lambda event: None)
    names = {file.relative_to(located.base).as_posix() for file in located.files}
    images = (located.base, names) if located.form == "images" else None
    made = Page(project, worker, Views(project, worker, source.kind, pool.name), guard or Guard(), images)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        server = Server(Config(made.app, log_level="critical", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        worker.load(lambda report: Pool(source))
        try:
            yield listening.getsockname()[1], made
        finally:
            server.should_exit = True
            thread.join()
            store.close()


def write_texts(folder, n=60):
    """A pool of texts of three kinds; the kind of row i is i modulo 3."""
    words = ["apple pear plum cherry fruit", "car bus train tram wheel", "dog cat horse sheep cow"]
    rng = np.random.default_rng(0)
    lines = [" ".join(rng.permutation(words[i % 3].split())[:4]) + f" number {i}" for i in range(n)]
    file = folder / "texts.txt"
    file.write_text("\n".join(lines) + "\n")
    return file
