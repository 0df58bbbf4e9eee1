"""The server is killed while somebody labels as fast as possible: what it acknowledged is there, once."""

import json
import os
import random
import signal
import sqlite3
import uuid
from http.client import HTTPException
from threading import Timer

import pytest

from browsing import Command
from mheal.web.project import Project
from mheal.web.store import Store
from served import Client, write_texts

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("MHEAL_KILLS", "8"))
CLASSES = ["fruit", "vehicle", "animal"]


def test_no_label_is_lost_or_doubled_when_the_server_is_killed(tmp_path):
    pool, chance = write_texts(tmp_path, 600), random.Random(0)
    sent, acknowledged, pending = [], set(), None
    for at in range(KILLS):
        if at % 5 == 4:  # while it starts
            starting = Command(pool, wait=False)
            Timer(chance.uniform(0.2, 3), starting.process.kill).start()
            starting.process.communicate()
        command = Command(pool, "--classes", ",".join(CLASSES))
        client = Client(command.port, "tab")
        client.wait(lambda state: state["jobs"]["pool"]["state"] == "done")
        Timer(chance.uniform(0.05, 1.5), command.process.kill).start()
        try:
            while True:
                pending = pending or (uuid.uuid4().hex, chance.randrange(600), chance.choice(CLASSES))
                if pending not in sent:
                    sent.append(pending)
                name, row, label = pending
                status, answer = client.act("label", [row], label, request=name)
                assert status == 200, answer
                acknowledged.add(name)
                pending = None
        except (OSError, HTTPException, json.JSONDecodeError):  # the connection ended
            command.end(signal.SIGKILL)
        print(f"kill {at + 1}: {len(acknowledged):,} labels acknowledged", flush=True)
    assert len(acknowledged) > KILLS
    written = [one for one in sent if one is not pending]
    assert {name for name, _, _ in written} == acknowledged
    with sqlite3.connect(tmp_path / "texts.txt.mheal") as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        query = "SELECT request, row, label FROM action JOIN entry ON action = id ORDER BY id"
        found = db.execute(query).fetchall()
    assert found[: len(written)] == written  # all of them, once and in order
    assert found[len(written) :] in ([], [pending])  # the last may be there though its answer was lost
    store = Store(tmp_path / "texts.txt.mheal")
    try:
        assert Project(store).labels == {row: label for _, row, label in found}
    finally:
        store.close()
    print(f"{KILLS} kills, {len(acknowledged):,} labels acknowledged, {len(found):,} in the file")
