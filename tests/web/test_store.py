import sqlite3
import threading
from itertools import count

import pytest

from mheal.exceptions import UserError
from mheal.web.project import Held, Project, entries_of
from mheal.web.store import Action, NotSaved, Store

CLASSES = ["cat", "dog", "<b>bold</b>"]
NUMBERS = count()


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "pool.mheal")
    yield made
    made.close()


@pytest.fixture
def project(store):
    made = Project(store, CLASSES)
    picks = [(row, f"because {row}") for row in (5, 3, 8, 1, 9, 4)]
    store.write(
        lambda: made.add_picks(picks, {row: (None, {"text": str(row)}) for row, _ in picks}, first=False)
    ).result()
    return made


def act(project, kind="label", rows=(), label=None, tab="a", who="", request=None):
    at = next(NUMBERS)
    action = Action(request or f"request {at}", float(at), tab, who, kind, entries_of(rows, label))
    return project.store.write(lambda: project.act(action)).result()


def again(project):
    """The project, read from its file again."""
    return Project(project.store)


def test_a_label_is_in_the_file_when_write_returns(project):
    act(project, rows=[5], label="cat")
    with sqlite3.connect(project.store.path) as other:
        assert other.execute("SELECT row, label FROM entry").fetchall() == [(5, "cat")]
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert project.store._db.execute("PRAGMA synchronous").fetchone() == (2,)  # full


def test_what_is_read_again_is_what_was(project):
    act(project, rows=[5], label="cat")
    act(project, rows=[3], label="dog", who="Ann")
    act(project, rows=[3], label="cat", who="Ben")
    act(project, "skip", [8])
    act(project, rows=[1, 9], label="dog")
    act(project, "undo")
    act(project, "clear", [5])
    other = again(project)
    for name in ("labels", "skipped", "queue", "classes", "budget", "undone", "items"):
        assert getattr(other, name) == getattr(project, name), name
    assert project.labels == {3: "cat"}
    assert project.skipped == {8}


def test_the_same_request_twice_is_written_once(project):
    first = act(project, rows=[5], label="cat", request="one")
    second = act(project, rows=[5], label="cat", request="one")
    assert first == second
    assert len(list(project.store.actions())) == 1


def test_undo_is_history_and_goes_back_step_by_step(project):
    act(project, rows=[5], label="cat")
    act(project, rows=[5], label="dog")
    act(project, "skip", [3])
    assert act(project, "undo")["rows"] == [[3, None, False]]
    assert act(project, "undo")["rows"] == [[5, "cat", False]]
    assert act(project, "undo")["rows"] == [[5, None, False]]
    with pytest.raises(UserError, match="nothing to undo"):
        act(project, "undo")
    assert [action.kind for action in project.store.actions()] == ["label", "label", "skip", "undo", "undo", "undo"]


def test_undo_takes_back_a_whole_group_and_only_of_the_own_tab(project):
    act(project, rows=[5, 3, 8], label="cat", tab="a")
    act(project, rows=[1], label="dog", tab="b")
    act(project, "undo", tab="a")
    assert project.labels == {1: "dog"}


def test_the_most_frequent_label_counts_and_of_a_tie_the_latest(project):
    act(project, rows=[5], label="cat", who="Ann")
    act(project, rows=[5], label="dog", who="Ben")
    assert project.labels[5] == "dog"
    assert project.votes[5].differ
    act(project, rows=[5], label="cat", who="Cleo")
    assert project.labels[5] == "cat"
    act(project, rows=[5], label="cat", who="Ben")
    assert not project.votes[5].differ


def test_two_tabs_never_hold_the_same_item(project):
    held = project.next("a", want=3), project.next("b", want=3)
    assert held == ([5, 3, 8], [1, 9, 4])
    assert project.next("c", want=3) == []
    with pytest.raises(Held):
        act(project, rows=[5], label="cat", tab="b")
    act(project, rows=[5], label="cat", tab="a")
    assert project.next("a", hold=[3, 8, 1], want=3) == [3, 8]  # 1 is held by the other
    project.release("b")
    assert project.next("a", hold=[3, 8], want=4) == [3, 8, 1, 9]


def test_a_lease_ends(project):
    assert project.next("a", want=2) == [5, 3]
    project.renew("a", seconds=-1)
    assert project.next("b", want=2) == [5, 3]


def test_many_threads_lose_and_double_nothing(project):
    def label(thread):
        for i in range(25):
            action = Action(
                f"{thread}-{i}", 0.0, f"tab {thread}", f"person {thread}", "label", [(100 * thread + i, "cat")]
            )
            for _ in range(2):  # as a client that did not hear the answer
                project.store.write(lambda: project.act(action)).result()  # noqa: B023

    threads = [threading.Thread(target=label, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(again(project).labels) == 200
    assert sum(1 for _ in project.store.actions()) == 200


def test_what_fails_in_a_group_does_not_harm_the_others(project):
    def broken():
        project.store.set_meta("half", 1)
        raise UserError("not this one")

    futures = [project.store.write(work) for work in (lambda: project.store.set_meta("one", 1), broken)]
    with pytest.raises(UserError, match="not this one"):
        futures[1].result()
    assert project.store.meta("one") == 1
    assert project.store.meta("half") is None


def test_what_the_disk_refuses_is_not_labelled(project):
    act(project, rows=[5], label="cat")
    project.store._db.execute("PRAGMA query_only = ON")  # as a full disk: every write is an error
    with pytest.raises(NotSaved):
        act(project, rows=[3], label="cat")
    assert project.labels == {5: "cat"}


def test_an_open_project_is_opened_by_nobody_else(store):
    with pytest.raises(UserError, match="another run"):
        Store(store.path)


def test_nothing_is_left_beside_the_file_when_it_is_closed(tmp_path):
    Store(tmp_path / "pool.mheal").close()
    assert [file.name for file in tmp_path.iterdir()] == ["pool.mheal"]


def database(path, *statements, application=None, version=None):
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
        for name, value in {"application_id": application, "user_version": version}.items():
            if value is not None:
                db.execute(f"PRAGMA {name} = {value}")
    db.close()


@pytest.mark.parametrize("kind", ["text", "empty database", "other tables", "trigger", "future", "cut", "zeros"])
def test_a_file_from_elsewhere_is_refused_in_one_line(tmp_path, kind):
    path = tmp_path / "pool.mheal"
    if kind in ("trigger", "future", "cut", "zeros"):
        Store(path).close()
    if kind == "text":
        path.write_text("a text, not a database\n" * 400)
    elif kind == "empty database":
        database(path, application=99)
    elif kind == "other tables":
        database(path, "CREATE TABLE meta (name TEXT)", application=0x6D68656C, version=1)
    elif kind == "trigger":
        database(path, "CREATE TRIGGER evil AFTER INSERT ON entry BEGIN DELETE FROM entry; END")
    elif kind == "future":
        database(path, version=99)
    elif kind == "cut":
        path.write_bytes(path.read_bytes()[:5000])
    else:
        content = bytearray(path.read_bytes())
        content[100:4000] = bytes(3900)
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(UserError) as caught:
        Store(path)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert not (tmp_path / ".pool.mheal.mheal-lock").exists()


def test_a_strange_history_is_harmless(tmp_path):
    path = tmp_path / "pool.mheal"
    Store(path).close()
    database(
        path,
        "INSERT INTO meta VALUES ('classes', '{\"not\": \"a list\"}'), ('budget', '7'), ('pool', 'no JSON')",
        "INSERT INTO action VALUES (1, 'r1', 0, 't', '', 'label', NULL), (2, 'r2', 0, 't', '', 'undo', 1), "
        "(3, 'r3', 0, 't', '', 'undo', 2), (4, 'r4', 0, 't', '', 'strange', NULL)",
        "INSERT INTO entry VALUES (1, -5, '<script>alert(1)</script>'), (4, 9223372036854775807, 'x')",
        "INSERT INTO item VALUES (3, '../../etc/passwd', '[[[[')",
    )
    store = Store(path)
    try:
        project = Project(store)
        assert project.labels == {}
        assert project.classes == []
    finally:
        store.close()


def test_picks_that_a_tab_holds_are_not_free(project):
    assert project.free() == 6
    project.next("a", want=4)
    assert project.free() == 2
    act(project, rows=[project.next("b", want=1)[0]], label="cat", tab="b")
    assert project.free() == 1
    project.release("a")
    assert project.free() == 5
