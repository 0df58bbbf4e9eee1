"""`mheal label` as a process of its own, and Chromium to look at it."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


class Command:
    """A running `mheal label`, with the options given; `address` is where its page is."""

    def __init__(self, pool, *options, port=0):
        self.arguments = [str(pool), *options]
        self.started = time.perf_counter()
        words = [sys.executable, "-m", "mheal", "label", *self.arguments, "--no-browser", "--port", str(port)]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.said = []
        for line in self.process.stderr:
            self.said.append(line)
            if line.startswith("Label at "):
                self.address = line.split()[2]
                self.port = int(self.address.split("/")[2].rpartition(":")[2])
                return
        raise RuntimeError("".join(self.said))

    def end(self, how=signal.SIGINT):
        """End it as Ctrl-C does, or by another signal."""
        self.process.send_signal(how)
        self.process.communicate(timeout=30)


@contextmanager
def running(pool, *options):
    """The page of a pool, while the block runs."""
    command = Command(pool, *options)
    try:
        yield command
    finally:
        command.end()


def missing():
    """Why there is no browser here, or None."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed: pip install playwright"
    return None if CHROMIUM.exists() else f"there is no {CHROMIUM}: apt-get install chromium"


@contextmanager
def chromium(*flags):
    """Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=[*FLAGS, *flags])
        try:
            yield browser
        finally:
            browser.close()


def write_digits(folder, n=400):
    """A pool of images of handwritten digits; the digit of each file by its name."""
    digits = load_digits()
    folder.mkdir(parents=True, exist_ok=True)
    names = {}
    for at, (image, digit) in enumerate(zip(digits.images[:n], digits.target[:n], strict=True)):
        name = f"{at:04d}.png"
        Image.fromarray(np.uint8(255 - 15.9 * image)).save(folder / name)
        names[name] = str(digit)
    return names
