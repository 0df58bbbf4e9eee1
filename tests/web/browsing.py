"""`mheal label` as a process of its own, and Chromium to look at it."""

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
    """A running `mheal label`, with the options given; `address` is where its page is, unless nobody waits for it."""

    def __init__(self, pool, *options, port=0, wait=True):
        self.arguments = [str(pool), *options]
        self.started = time.perf_counter()
        words = [sys.executable, "-m", "mheal", "label", *self.arguments, "--no-browser", "--port", str(port)]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.said = []
        if not wait:
            return
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


class Person:
    """Somebody in front of a page; `script` is run in it before its own."""

    def __init__(self, browser, address, script="", **context):
        self.page = browser.new_context(accept_downloads=True, **context).new_page()
        self.page.add_init_script(script)
        self.address, self.problems = address, []
        self.page.set_default_timeout(60_000)
        self.page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.goto(address)
        self.item = self.page.locator('.item[data-row]:not([data-row=""])')
        self.item.wait_for()

    @property
    def row(self):
        """The row in front of the person."""
        return int(self.item.get_attribute("data-row"))

    @property
    def name(self):
        """The name of that item, without its label."""
        return self.page.evaluate("() => document.querySelector('#item-title').firstChild.textContent")

    @property
    def labelled(self):
        """How many labels the page says there are."""
        return int(self.page.locator("#totals").inner_text().split()[0].replace(",", ""))

    def press(self, key):
        """Press a key, and wait for another item."""
        before = self.row
        self.page.keyboard.press(key)
        self.page.locator(f'.item[data-row]:not([data-row="{before}"]):not([data-row=""])').wait_for()

    def saved(self):
        """Wait until everything is on disk."""
        self.page.locator("#saved:not(.busy)", has_text="Saved").wait_for()

    def view(self, name):
        """Go to another view by its link."""
        self.page.locator(f'nav a[href="#{name}"]').click()
        self.page.locator(f"#view-{name}").wait_for()

    def export(self, form, folder):
        """The exported file."""
        self.view("export")
        with self.page.expect_download() as download:
            self.page.locator(f'[data-form="{form}"]').click()
        file = folder / download.value.suggested_filename
        download.value.save_as(file)
        return file
