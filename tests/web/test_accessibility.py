"""axe-core finds no serious problem in any view, light and dark. It is installed by npm into a temporary folder."""

import shutil
import subprocess

import pytest

from browsing import Person, chromium, missing, running, write_digits

pytestmark = [pytest.mark.slow, pytest.mark.skipif(missing() is not None, reason=missing() or "")]
AXE = "axe-core@4.14.1"


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The source of axe-core."""
    if not (npm := shutil.which("npm")):
        pytest.skip("there is no npm, which installs axe-core: apt-get install npm")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        [npm, "install", "--silent", "--no-save", "--prefix", folder, AXE], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"npm cannot install {AXE}: {done.stderr.strip()[-200:]}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


def serious(page, axe):
    """Serious problems of what is on the screen."""
    page.wait_for_timeout(400)  # until colours have changed
    page.evaluate(f"() => {{ {axe}\n }}")
    found = page.evaluate("() => axe.run()")
    assert len(found["passes"]) > 10  # it did look
    return [
        (one["id"], one["impact"], [node["html"][:160] + " " + (node["failureSummary"] or "") for node in one["nodes"]])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def test_nothing_is_wider_than_a_phone(tmp_path):
    names = write_digits(tmp_path / "digits", 200)
    classes = "0,1,2,3,4,5,6,7,8,9,a class with a name that is longer than most phones are wide"
    with chromium() as browser, running(tmp_path / "digits", "--classes", classes) as command:
        person = Person(browser, command.address, viewport={"width": 360, "height": 740})
        for _ in range(22):
            person.press(names[person.name])
        waits = {"map": "#map-canvas[data-frames]", "progress": ".curve svg", "review": ".segments", "export": ".forms"}
        for view, there in {**waits, "label": ".item img"}.items():
            person.view(view)
            person.page.locator(there).first.wait_for()
            assert person.page.evaluate("() => document.documentElement.scrollWidth") <= 360, view


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_problem_in_any_view(tmp_path, axe, theme):
    names = write_digits(tmp_path / "digits", 200)
    with chromium() as browser, running(tmp_path / "digits", "--classes", "0,1,2,3,4,5,6,7,8,9") as command:
        person = Person(browser, command.address, color_scheme=theme)
        page, problems = person.page, {}
        for _ in range(24):
            person.press(names[person.name])
        person.saved()
        page.locator(".beside .card").first.wait_for()
        problems["label"] = serious(page, axe)
        for key in ("?", "/"):
            page.keyboard.press(key)
            page.locator("dialog[open]").wait_for()
            problems[key] = serious(page, axe)
            page.keyboard.press("Escape")
        waits = {"map": "#map-canvas[data-frames]", "progress": ".curve svg", "review": ".segments", "export": ".forms"}
        for view, there in waits.items():
            person.view(view)
            page.locator(there).first.wait_for()
            if view == "review":
                page.locator("[data-list=labelled]").click()
                page.locator(".cards.review .card").first.wait_for()
            problems[view] = serious(page, axe)
    assert not any(problems.values()), problems
