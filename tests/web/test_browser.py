"""The page in Chromium, as a person would use it. Each test is one session, with the keyboard where there is a key."""

import json

import polars as pl
import pytest

from browsing import Person, chromium, missing, running, write_digits
from served import write_texts

pytestmark = [pytest.mark.slow, pytest.mark.skipif(missing() is not None, reason=missing() or "")]
DIGITS = "0,1,2,3,4,5,6,7,8,9"
KINDS = ["fruit", "vehicle", "animal"]


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def digits(tmp_path):
    """A page for 400 digits, and the digit of each file."""
    names = write_digits(tmp_path / "digits")
    with running(tmp_path / "digits", "--classes", DIGITS, "--budget", "60") as command:
        yield command, names


def rightly(person, names, n):
    """Label n items with their digits by key; their names."""
    done = []
    for _ in range(n):
        done.append(person.name)
        person.press(names[person.name])
    person.saved()
    return done


def test_label_digits_by_keys_undo_skip_and_reload(browser, digits, tmp_path):
    command, names = digits
    person = Person(browser, command.address)
    assert "cluster" in person.page.locator(".why").inner_text()
    done = rightly(person, names, 20)
    assert person.labelled == 20
    undone = done[-1]
    person.press("u")
    assert person.name == undone
    assert person.page.locator("#item-title .chip").count() == 0
    person.saved()
    assert person.labelled == 19
    person.press(names[undone])
    skipped = person.name
    person.press("s")
    assert person.name != skipped
    rightly(person, names, 3)
    person.press("k")
    person.page.locator("#item-title .chip").wait_for()  # an item with its label
    person.press("j")
    person.page.reload()
    person.item.wait_for()
    assert person.labelled == 23
    assert person.name not in {*done, skipped}
    rightly(person, names, 2)
    person.view("review")
    person.page.locator("[data-list=skipped]").click()
    person.page.locator(f'.card .name[title="{skipped}"]').wait_for()
    frame = pl.read_csv(person.export("csv", tmp_path))
    assert len(frame) == 25
    assert {name: str(label) for name, label in frame.select("id", "label").rows()} == {
        name: names[name] for name in frame["id"]
    }
    assert frame["id"][:19].to_list() == done[:19]
    assert person.problems == []


def test_two_tabs_see_each_other_and_hold_different_items(browser, digits):
    command, names = digits
    one, two = Person(browser, command.address), Person(browser, command.address)
    assert one.row != two.row
    seen = set()
    for _ in range(6):
        for person in (one, two):
            assert person.name not in seen
            seen.add(person.name)
            rightly(person, names, 1)
    for person in (one, two):
        person.page.locator("#totals", has_text="12 of 60").wait_for()


def test_agreeing_with_the_guess_is_one_key(browser, digits):
    command, names = digits
    person = Person(browser, command.address)
    rightly(person, names, 30)
    expected = person.page.locator(".guess .chip")
    for _ in range(20):
        person.page.wait_for_timeout(1_500)
        if expected.is_visible():
            break
        rightly(person, names, 1)  # this item came before the model
    before, label, row = person.labelled, expected.inner_text(), person.row
    person.press("Enter")
    person.saved()
    assert person.labelled == before + 1
    person.press("k")
    assert person.row == row
    assert person.page.locator("#item-title .chip").inner_text() == label


def test_look_alikes_are_labelled_together(browser, digits):
    command, names = digits
    person = Person(browser, command.address)
    alike = person.page.locator(".beside button", has_text="look-alike")
    rightly(person, names, 10)
    while not alike.count():
        rightly(person, names, 1)
        person.page.wait_for_timeout(500)
    before, digit = person.labelled, names[person.name]
    person.page.keyboard.press("a")
    person.page.locator("dialog .pick").first.wait_for()
    for pick in person.page.locator("dialog .pick").all():
        if names[pick.locator(".name").inner_text()] != digit:
            pick.locator("input").uncheck()
    n = int(person.page.locator("dialog strong").inner_text().split()[0])
    assert n == 1 + person.page.locator("dialog .pick input:checked").count() >= 2
    person.page.locator(f'dialog button[data-class="{digit}"]').focus()
    person.page.keyboard.press(digit)
    person.saved()
    person.page.locator("#totals", has_text=f"{before + n} of").wait_for()
    person.page.keyboard.press("u")  # all of them in one step
    person.page.locator("#totals", has_text=f"{before} of").wait_for()


def test_lasso_hover_and_labelling_what_was_chosen(browser, digits):
    command, names = digits
    person = Person(browser, command.address)
    rightly(person, names, 3)
    person.view("map")
    canvas = person.page.locator("#map-canvas[data-frames]")
    canvas.wait_for()
    box = canvas.bounding_box()

    def at(x, y):
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    person.page.get_by_role("button", name="Lasso").click()
    person.page.mouse.move(*at(0.02, 0.02))
    person.page.mouse.down()
    for corner in ((0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.05)):
        person.page.mouse.move(*at(*corner), steps=4)
    person.page.mouse.up()
    person.page.locator(".selection h2", has_text="400 items selected").wait_for()  # every point is on the map
    person.page.get_by_role("button", name="Clear").click()
    person.page.mouse.move(*at(0.02, 0.02))
    person.page.mouse.down()
    for corner in ((0.5, 0.02), (0.5, 0.5), (0.02, 0.5), (0.02, 0.05)):
        person.page.mouse.move(*at(*corner), steps=4)
    person.page.mouse.up()
    person.page.locator(".selection h2", has_text="selected").wait_for()
    chosen = person.page.locator(".selection .card .name").all_inner_texts()
    assert len(chosen) >= 1
    person.page.get_by_role("button", name="Move").click()
    canvas.focus()
    person.page.keyboard.press("+")
    hover = person.page.locator(".hover .card")
    for x in range(20, 80, 2):
        if hover.is_visible():
            break
        for y in range(20, 80, 4):
            person.page.mouse.move(*at(x / 100, y / 100))
            person.page.wait_for_timeout(90)
            if hover.is_visible():
                break
    hover.wait_for()
    person.page.get_by_role("button", name="Label them next").click()
    person.page.locator(".selection [role=status]", has_text="come next").wait_for()
    person.view("label")
    person.page.reload()
    person.item.wait_for()
    n = int(person.page.locator("#totals").inner_text().split()[0])
    assert n == 3
    assert person.name in chosen or len(chosen) >= 60  # of a large selection only some cards are shown


def test_pick_more_review_doubts_and_disagreements(browser, digits, tmp_path):
    command, names = digits
    person = Person(browser, command.address)
    done = rightly(person, names, 44)
    wrong = person.name
    person.press(str((int(names[wrong]) + 5) % 10))
    done += [wrong, *rightly(person, names, 5)]
    person.view("progress")
    person.page.locator(".curve svg path.measured").first.wait_for()
    figures = person.page.locator(".figure strong").all_inner_texts()
    assert figures[:2] == ["50 / 60", "10"]
    assert person.page.locator(".advice p").first.inner_text().split()[0].rstrip(":.") in ("Go", "Stop")
    waiting = int(figures[3])
    person.page.get_by_role("button", name="Pick 50 more").click()
    person.page.locator(".figure strong", has_text=str(waiting + 50)).wait_for()
    person.view("review")
    card = person.page.locator(".card", has=person.page.locator(f'.name[title="{wrong}"]'))
    card.get_by_role("button", name=f"Change to {names[wrong]}").click()
    card.locator("[role=status]", has_text="Saved").wait_for()
    person.page.locator("[data-list=labelled]").click()
    person.page.locator("#view-review p", has_text="50 items").wait_for()
    person.page.locator("#search").fill(done[3])
    person.page.locator("#view-review p", has_text="1 item").wait_for()
    for who, more in (("Ann", 1), ("Ben", 2)):
        label = str((int(names[done[3]]) + more) % 10)
        person.page.locator("#who").fill(who)
        person.page.keyboard.press("Tab")
        person.page.locator(".cards.review select").select_option(label)
        person.page.locator(".saved-here", has_text=f"Saved: {label}").wait_for()
    person.page.locator("[data-list=differ]").click()
    person.page.locator(".votes").wait_for()
    votes = person.page.locator(".votes").inner_text()
    assert "Ann" in votes
    assert "Ben" in votes
    tasks = json.loads(person.export("label-studio", tmp_path).read_text())
    assert len(tasks) == 50
    assert sum(len(task["annotations"]) for task in tasks) >= 51


def test_texts_with_classes_typed_on_the_page_by_keyboard_alone(browser, tmp_path):
    pool = write_texts(tmp_path)
    with running(pool, "--budget", "30") as command:
        person = Person(browser, command.address)
        page = person.page
        for kind in KINDS:  # each new class with an item of its kind
            while KINDS[person.row % 3] != kind:
                person.press("s")
            before = person.row
            page.keyboard.press("/")
            page.keyboard.type(kind)
            page.keyboard.press("Enter")
            page.locator(f'.item[data-row]:not([data-row="{before}"]):not([data-row=""])').wait_for()
        for _ in range(12):
            person.press(str(KINDS.index(KINDS[person.row % 3]) + 1))
        person.saved()
        assert person.labelled == 15
        page.keyboard.press("?")
        page.locator("dialog[open]").wait_for()
        page.keyboard.press("Escape")
        for _ in range(4):  # by Tab to the links of the views
            page.keyboard.press("Tab")
        page.locator('nav a[href="#export"]').focus()
        page.keyboard.press("Enter")
        page.locator("[data-form=jsonl]").focus()
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        download.value.save_as(tmp_path / "labels.jsonl")
        assert person.problems == []
    lines = pool.read_text().splitlines()
    frame = pl.read_ndjson(tmp_path / "labels.jsonl")
    assert len(frame) == 15
    for row, text, label in frame.select("row", "text", "label").rows():
        assert (text, label) == (lines[row], KINDS[row % 3])


def test_rows_of_a_table(browser, tmp_path):
    pool = tmp_path / "parts.csv"
    frame = pl.DataFrame({
        "part": [f"P-{i:03d}" for i in range(90)],
        "width": [10.0 * (i % 3) + 0.01 * i for i in range(90)],
        "colour": [("red", "green", "blue")[i % 3] for i in range(90)],
    })  # fmt: skip
    frame.write_csv(pool)
    with running(pool, "--classes", "small,middle,large", "--budget", "25") as command:
        person = Person(browser, command.address)
        cells = person.page.locator(".item .cells").inner_text()
        assert frame["colour"][person.row] in cells
        for _ in range(15):
            person.press(str(person.row % 3 + 1))
        person.saved()
        file = person.export("parquet", tmp_path)
        made = pl.read_parquet(file)
        person.page.locator("#file").set_input_files(file)
        person.page.get_by_role("button", name="Import").click()
        person.page.locator("#view-export [role=status]", has_text="15 labels imported").wait_for()
        assert person.labelled == 15
        assert person.problems == []
    assert len(made) == 15
    for row, colour, label in made.select("row", "colour", "label").rows():
        assert colour == frame["colour"][row]
        assert label == ("small", "middle", "large")[row % 3]
