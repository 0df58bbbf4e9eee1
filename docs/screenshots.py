"""Makes the pictures of the page in docs/images: python docs/screenshots.py. It needs Chromium and Playwright."""

import io
import itertools
import sys
import tempfile
from pathlib import Path

import polars as pl
from PIL import Image
from sklearn.datasets import load_wine

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "tests" / "web"))
from browsing import Person, chromium, running, write_digits

VIEWS = ("label", "map", "progress", "review", "export")
READY = {
    "label": ".item[data-row] > *", "map": "canvas[data-frames]", "progress": ".curve > svg",
    "review": ".cards.review .card", "export": ".forms",
}  # fmt: skip
DESK, PHONE = {"width": 1160, "height": 760}, {"width": 390, "height": 760}
WIDE = 1160  # pixels of every picture


def shot(person: Person, view: str, theme: str, size: dict[str, int]) -> Image.Image:
    """A view as it looks."""
    page = person.page
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=theme)
    person.view(view)
    if view == "review":
        page.locator("[data-list=labelled]").click()
    page.locator(f"#view-{view} {READY[view]}").first.wait_for()
    page.mouse.move(1, 1)
    page.wait_for_timeout(1_500)  # images, colours, and the guess
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def beside(pictures: list[Image.Image], columns: int) -> Image.Image:
    """Several pictures on one sheet."""
    gap, (width, height) = 12, pictures[0].size
    rows = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (columns * (width + gap) - gap, rows * (height + gap) - gap), "#8a8f98")
    for at, picture in enumerate(pictures):
        sheet.paste(picture, (at % columns * (width + gap), at // columns * (height + gap)))
    return sheet


def keep(picture: Image.Image, name: str) -> None:
    """Write a picture, of at most 256 colours."""
    picture.thumbnail((WIDE, WIDE))
    picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        HERE / "images" / f"{name}.png", optimize=True
    )


def digits(browser, folder: Path) -> None:
    """Every view of a pool of images."""
    names = write_digits(folder / "digits", 1_797)
    with running(folder / "digits", "--classes", "0,1,2,3,4,5,6,7,8,9", "--budget", "100") as command:
        person = Person(browser, command.address)
        for _ in range(45):
            person.press(names[person.name])
        for at in range(40):  # an item of which the model is sure enough, with look-alikes
            person.page.wait_for_timeout(3_000 if at == 0 else 600)
            if person.page.locator(".guess .chip").is_visible() and person.page.locator(".strip").count():
                break
            person.press(names[person.name])
        desk = {(view, theme): shot(person, view, theme, DESK) for theme in ("light", "dark") for view in VIEWS}
        for view in VIEWS:
            keep(desk[view, "light"], view)
        keep(beside([desk[view, "dark"] for view in VIEWS[:4]], 2), "dark")
        themes = itertools.cycle(("light", "dark"))
        keep(beside([shot(person, view, next(themes), PHONE) for view in VIEWS], 5), "phone")


def texts(browser, folder: Path) -> None:
    """A pool of texts."""
    who = ["Hello,", "Good morning,", "Dear team,", "Hi there,"]
    what = {
        "delivery": ["the parcel has not arrived", "the courier left it at the wrong house", "tracking has not moved"],
        "payment": ["my card was charged twice", "the invoice shows the wrong sum", "the refund is still missing"],
        "defect": ["the screen stays black", "the battery lasts an hour", "one wheel came off on the first day"],
    }
    since = ["since Monday", "for a week now", "since the update", "after two days of use", "as of this morning"]
    ask = ["Can you help?", "What should I do next?", "Please call me back.", "Is there a way to mend this?"]
    kinds = [(kind, say) for kind, says in what.items() for say in says]
    made = [
        (kind, f"{hello} {say} {when}. {end}")
        for hello, (kind, say), when, end in itertools.product(who, kinds, since, ask)
    ]
    (folder / "messages.txt").write_text("\n".join(text for _, text in made) + "\n")
    with running(folder / "messages.txt", "--classes", ",".join(what), "--budget", "60") as command:
        person = Person(browser, command.address)
        for _ in range(24):
            person.press(str([*what].index(made[person.row][0]) + 1))
        person.page.wait_for_timeout(3_000)
        keep(shot(person, "label", "dark", DESK), "texts")


def table(browser, folder: Path) -> None:
    """A pool of table rows."""
    wine = load_wine()
    pl.DataFrame(wine.data, schema=list(wine.feature_names)).write_csv(folder / "wine.csv")
    with running(folder / "wine.csv", "--classes", "Barolo,Grignolino,Barbera", "--budget", "60") as command:
        person = Person(browser, command.address)
        for _ in range(24):
            person.press(str(int(wine.target[person.row]) + 1))
        person.page.wait_for_timeout(3_000)
        keep(shot(person, "label", "light", DESK), "table")


if __name__ == "__main__":
    (HERE / "images").mkdir(exist_ok=True)
    with chromium() as chrome:
        for make in (digits, texts, table):
            with tempfile.TemporaryDirectory() as name:
                make(chrome, Path(name))
