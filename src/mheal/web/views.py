"""What the page is sent: items, lists of items, the state of the project."""

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any

from ..exceptions import UserError
from .project import Project
from .worker import Worker

PAGE = 60  # items of a list that are sent at once
SHOWS = ("doubted", "differ", "labelled", "skipped", "waiting", "all")


class Views:
    """The project and its pool as JSON.

    kind : of the items: "images", "texts", "table" or "vectors"
    name : of the pool
    """

    def __init__(self, project: Project, worker: Worker, kind: str, name: str) -> None:
        self.project, self.worker, self.kind, self.name = project, worker, kind, name
        self._one_at_a_time = Lock()

    def state(self) -> dict[str, Any]:
        """Everything but the items."""
        project, worker = self.project, self.worker
        return {
            "pool": self.name, "kind": self.kind, "n": None if worker.pool is None else worker.pool.n,
            "jobs": worker.statuses(), "action": max(project.actions, default=0), **self.totals(),
        }  # fmt: skip

    def totals(self) -> dict[str, Any]:
        """The numbers that change with each label."""
        project = self.project
        counts, waiting = project.counts, len(project.waiting())
        return {
            "classes": [*counts], "counts": [*counts.values()], "labelled": len(project.labels),
            "skipped": len(project.skipped), "waiting": waiting, "budget": project.budget,
        }  # fmt: skip

    def items(self, rows: Iterable[int]) -> list[dict[str, Any]]:
        """These rows as a person sees them; those that are not in the pool are left out."""
        rows, known = [*rows], self.project.items
        new = [row for row in rows if row not in known]
        read = self.worker.pool.items(new) if new and self.worker.pool is not None else {}
        return [self._item(row, *(known.get(row) or read[row])) for row in rows if row in known or row in read]

    def context(self, row: int) -> dict[str, Any]:
        """What helps to label a row: the nearest labelled rows, its look-alikes, the model's guess."""
        pool, learned, project = self.worker.pool, self.worker.learned, self.project
        if pool is None:
            return {"ready": False, "neighbours": [], "alike": [], "guess": None}
        labels = dict(project.labels)
        taken = {*labels, *project.skipped, *project.leases}
        with self._one_at_a_time:
            return {
                "ready": True,
                "guess": None if learned is None else learned.guess(row),
                "neighbours": self.items(pool.neighbours(row, [*labels])),
                "alike": self.items(pool.alike(row, labels.pop(row, None), labels, taken)),
            }

    def list(self, show: str, label: str | None, words: str, offset: int) -> dict[str, Any]:
        """A page of the items that have something to review."""
        if show not in SHOWS:
            raise UserError(f"there is no list {show!r}")
        notes: dict[int, dict[str, Any]] = {}
        project, pool, learned = self.project, self.worker.pool, self.worker.learned
        rows: Sequence[int]
        if show == "doubted":
            doubted = [] if learned is None else learned.doubted()
            notes = {row: {"expected": guess, "chance": chance} for row, guess, chance in doubted}
            rows = [
                row for row, *_ in doubted if row in project.labels and project.labels[row] != notes[row]["expected"]
            ]
        elif show == "differ":
            rows = [row for row, votes in project.votes.items() if votes.differ]
        elif show == "labelled":
            rows = [*project.labels][::-1]
        elif show == "all":
            rows = range(pool.source.n_rows) if pool is not None and not words else []
        else:
            rows = sorted(project.skipped) if show == "skipped" else project.waiting()
        if words.strip():
            if pool is None:
                raise UserError("the pool is still being read: search later")
            found = pool.find(words.strip())
            hits = {*found}
            rows = found if show == "all" else [row for row in rows if row in hits]
        if label:
            rows = [row for row in rows if project.labels.get(row) == label]
        items = self.items(rows[offset : offset + PAGE])
        for item in items:
            item |= notes.get(item["row"], {})
        return {"total": len(rows), "offset": offset, "page": PAGE, "items": items}

    def marks(self) -> dict[str, Any]:
        """Rows with a class, by the number of the class; rows that wait; rows that are skipped."""
        project = self.project
        number = {name: at for at, name in enumerate(project.classes)}
        labels = [[row, number[label]] for row, label in project.labels.items() if label in number]
        return {"labels": labels, "waiting": project.waiting(), "skipped": sorted(project.skipped)}

    def _item(self, row: int, name: str | None, content: Any) -> dict[str, Any]:
        votes, pick = self.project.votes.get(row), self.project.picks.get(row)
        return {
            "row": row, "name": f"row {row}" if name is None else name, "content": content,
            "reason": "" if pick is None else pick.reason, "label": self.project.labels.get(row),
            "labels": {} if votes is None else {who: label for who, (_, label) in votes.labels.items()},
            "skipped": row in self.project.skipped,
        }  # fmt: skip
