"""`mheal label`: a page on this machine to label the picks."""

import webbrowser
from dataclasses import asdict
from threading import Timer
from typing import Annotated

from ..exceptions import UserError
from .console import messages
from .options import PoolOptions, Quiet, Seed, from_fields, names, option

CLASSES = "The classes; more can be added on the page."
BUDGET = "How many labels you plan. Default: 200, or what the project has."
HOST = "Address to listen on, so that other machines can connect. They need the token that is printed."
TOKEN = "Token for --host, of at least 16 characters. Default: a random one."


@from_fields
def label(
    options: PoolOptions,
    classes: Annotated[str | None, option("A,B", CLASSES)] = None,
    budget: Annotated[int | None, option("N", BUDGET, "--budget", "-b", min=1)] = None,
    port: Annotated[int, option("N", "Port of the page; 0 chooses a free one.", min=0, max=65535)] = 8000,
    host: Annotated[str, option("ADDRESS", HOST)] = "127.0.0.1",
    token: Annotated[str | None, option("WORD", TOKEN)] = None,
    browser: Annotated[bool, option(None, "Open the page in the browser.", "--browser/--no-browser")] = True,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Label the picks of a pool on a page in your browser.

    The page runs on this machine and sends nothing elsewhere. Labels are kept in one file beside the pool, POOL.mheal;
    the same command continues there. Ctrl-C ends it.

    Example: mheal label images --classes cat,dog

    Example: mheal label texts.txt --budget 100
    """
    try:
        from ..web.serve import Session
    except ImportError as error:
        raise UserError("the page needs starlette and uvicorn: pip install 'mheal[web]'") from error
    from ..io.source import Source
    from .pool import print_source, read, usable

    console = messages(quiet)

    def reading(_: object) -> Source:
        source = read(options, console, seed)
        usable(source.X, options.pool)
        return source

    def ready(address: str) -> None:
        console.print(f"Label at {address} (Ctrl-C ends it)")
        if browser:
            Timer(0.2, webbrowser.open, [address]).start()

    session = Session(
        options.pool, reading, {**asdict(options), "seed": seed, "pool": None}, names(classes) or (), budget,
        host, port, token,
    )  # fmt: skip
    try:
        session.run(ready, lambda source: print_source(options.pool, source, console))
    except KeyboardInterrupt:
        console.print("The labels are saved. The same command continues.")
