"""The page of `mheal label`: round trips of twenty clients, keys, the map of a million points, and the first item.

It needs Chromium and Playwright. The page and the browser share this machine's cores, so waiting includes both.
"""

import json
import os
import sqlite3
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
from harness import Book, arguments, busy_elsewhere, wanted
from PIL import Image

from pools import mixture

sys.path.append(str(Path(__file__).parents[2] / "tests" / "web"))
from browsing import Person, chromium, running, write_digits
from served import Client, write_texts

# Milliseconds from a key to the frame that shows the next item, its image decoded.
KEYS = """
window.waits = [];
addEventListener("keydown", () => {
  const item = document.querySelector(".item"), start = performance.now(), before = item.dataset.row;
  const look = () => {
    const image = item.querySelector("img");
    const there = item.dataset.row && item.dataset.row !== before && (!image || (image.complete && image.naturalWidth));
    if (there) waits.push(performance.now() - start);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}, true);
"""
# Milliseconds from opening the map to its first frame, and the times of all frames.
FRAMES = """
window.frames_ = [];
const look = () => {
  const n = document.querySelector("#map-canvas")?.dataset.frames;
  if (n && n !== look.last) frames_.push(performance.now());
  look.last = n;
  requestAnimationFrame(look);
};
addEventListener("DOMContentLoaded", look);
addEventListener("hashchange", () => { window.opened ??= performance.now(); });
"""


def quantiles(seconds: list[float]) -> dict[str, float]:
    """Milliseconds."""
    p50, p99 = np.quantile(seconds, [0.5, 0.99]) * 1000
    return {
        "n": len(seconds),
        "p50_ms": round(p50, 1),
        "p99_ms": round(p99, 1),
        "max_ms": round(max(seconds) * 1000, 1),
    }


class KeptClient(Client):
    """A client that keeps its connection, as browsers do."""

    connection: HTTPConnection | None = None

    def send(self, method: str, path: str, body: Any = None, headers: Any = None) -> Any:
        """Send a request."""
        self.connection = self.connection or HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        answer.body = answer.read()
        return answer


def clients(folder: Path, quick: bool, pause: float) -> dict[str, Any]:
    """Twenty clients label: each takes the items that it holds, and waits `pause` seconds between two labels."""
    n, each = (20, 5) if quick else (20, 60)
    pool = write_texts(folder, 300 if quick else 5_000)
    times: list[float] = []
    sent: list[tuple[str, int]] = []
    with running(pool, "--classes", "fruit,vehicle,animal", "--budget", str(2 * n * each)) as command:
        first = Client(command.port)
        first.wait(lambda state: state["waiting"] > 0)
        first.post("/api/pick", {"n": 2 * n * each if not quick else 150})
        first.wait(lambda state: state["jobs"]["picks"]["state"] == "done")

        def label(at: int) -> None:
            client, done = KeptClient(command.port, f"tab {at}"), 0
            while done < each:
                for item in client.next(want=10):
                    name, start = uuid.uuid4().hex, time.perf_counter()
                    status, answer = client.act("label", [item["row"]], "fruit", request=name)
                    times.append(time.perf_counter() - start)
                    assert status == 200, answer
                    sent.append((name, item["row"]))
                    done += 1
                    time.sleep(pause)
                    if done == each:
                        break

        threads = [threading.Thread(target=label, args=(at,)) for at in range(n)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.perf_counter() - start
    with sqlite3.connect(folder / "texts.txt.mheal") as db:
        found = db.execute("SELECT request, row FROM action JOIN entry ON action = id").fetchall()
    return {
        **quantiles(times), "clients": n, "pause_s": pause, "labels_a_second": round(len(sent) / took, 1),
        "lost": len({*sent} - {*found}), "doubled": len(found) - len({*found}),
        "guard": {"passed": sorted(found) == sorted(sent)},
    }  # fmt: skip


def keys(folder: Path, quick: bool, pause: float) -> dict[str, Any]:
    """A person labels digits by single keys, one every `pause` seconds."""
    names = write_digits(folder / "digits", 200 if quick else 1_797)
    n = 10 if quick else 100
    with chromium() as browser, running(folder / "digits", "--classes", ",".join("0123456789")) as command:
        person = Person(browser, command.address, script=KEYS)
        for _ in range(n):
            person.press(names[person.name])
            time.sleep(pause)
        person.saved()
        waits = person.page.evaluate("() => waits")
        return {
            **quantiles([one / 1000 for one in waits]),
            "keys": n,
            "pause_s": pause,
            "guard": {"passed": len(waits) == n},
        }


def million(folder: Path, quick: bool) -> dict[str, Any]:
    """The map of a million points: the first frame after it is opened, and frames a second while it is moved."""
    n = 20_000 if quick else 1_000_000
    np.save(folder / "pool.npy", mixture(n, 16, 50, seed=7, spread=6.0))
    with running(folder / "pool.npy", "--classes", "a,b", "--budget", "20") as command:
        client = Client(command.port)
        start = time.perf_counter()
        client.get("/api/map")
        client.wait(lambda state: state["jobs"]["map"]["state"] == "done", 900)
        client.wait(lambda state: state["waiting"] > 0, 900)
        drawn = time.perf_counter() - start
        with chromium() as browser:
            person = Person(browser, command.address, script=FRAMES)
            page = person.page
            person.view("map")
            canvas = page.locator("#map-canvas[data-frames]")
            canvas.wait_for()
            page.wait_for_timeout(2_000)
            first, opened = page.evaluate("() => [frames_[0], opened]")
            box = canvas.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
            before = page.evaluate("() => performance.now()")
            end = time.perf_counter() + 4
            at = 0
            while time.perf_counter() < end:
                at += 1
                page.mouse.move(x + 100 * np.sin(at / 20), y + 60 * np.cos(at / 25))
            after = page.evaluate("() => performance.now()")
            page.mouse.up()
            moved = [one for one in page.evaluate("() => frames_") if before + 1_000 < one < after]
            gaps = np.diff(moved)
            fps = 1000 * len(gaps) / gaps.sum()
            page.wait_for_timeout(1_000)
            page.mouse.move(x + 5, y)
            start = time.perf_counter()
            page.locator(".hover .card").wait_for()
            hover = time.perf_counter() - start
    return {
        "points": n, "drawn_once_s": round(drawn, 1), "first_paint_s": round((first - opened) / 1000, 2),
        "fps": round(fps, 1), "worst_frame_ms": round(gaps.max(), 1), "hover_ms": round(1000 * hover),
        "guard": {"passed": True},
    }  # fmt: skip


def first_item(folder: Path, quick: bool, rounds: int) -> dict[str, Any]:
    """From the start of the command to the first image on the screen, with cached features."""
    images = folder / "images"
    images.mkdir()
    rng = np.random.default_rng(0)
    for at in range(200 if quick else 10_000):
        Image.fromarray(rng.integers(0, 255, (32, 32, 3), dtype=np.uint8)).save(images / f"{at:05d}.png")
    with running(images, "--classes", "a,b") as command:
        Client(command.port).wait(lambda state: state["waiting"] > 0, 900)
    served, shown, cpu = [], [], []
    with chromium() as browser:
        for _ in range(rounds):
            with running(images) as command:
                served.append(time.perf_counter() - command.started)
                person = Person(browser, command.address)
                person.page.locator(".item img").wait_for()
                shown.append(time.perf_counter() - command.started)
                used = Path(f"/proc/{command.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
                cpu.append(sum(map(int, used)) / os.sysconf("SC_CLK_TCK"))
    return {
        "images": len([*images.iterdir()]), "first_item_s": [round(one, 2) for one in shown],
        "served_s": [round(one, 2) for one in served], "server_cpu_s": cpu, "guard": {"passed": True},
    }  # fmt: skip


def main() -> None:
    args = arguments(__doc__).parse_args()
    book = Book("page", args)
    cases: dict[str, Callable[[Path], dict[str, Any]]] = {
        "20 clients, 4 labels a second each": lambda folder: clients(folder, args.quick, 0.25),
        "20 clients, without a pause": lambda folder: clients(folder, args.quick, 0),
        "keys, 4 a second": lambda folder: keys(folder, args.quick, 0.25),
        "keys, without a pause": lambda folder: keys(folder, args.quick, 0),
        "map of a million points": lambda folder: million(folder, args.quick),
        "first item of 10,000 images": lambda folder: first_item(folder, args.quick, args.rounds),
    }
    for key, case in cases.items():
        if not wanted(args, key):
            continue
        with tempfile.TemporaryDirectory() as name:
            busy = busy_elsewhere(2.0)
            row = {**case(Path(name)), "busy_elsewhere": busy}
        print(key, json.dumps({name: value for name, value in row.items() if name != "guard"}), flush=True)
        book.save(key, row)


if __name__ == "__main__":
    main()
