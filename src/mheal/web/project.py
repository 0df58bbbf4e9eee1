"""The labels so far, the picks that wait, and who holds which item: in memory, as the history in the store has them."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

from ..exceptions import UserError
from .store import LONGEST, Action, Entries, Pick, Store

BUDGET = 200
LEASE = 60.0  # seconds that a tab holds an item without a sign of life
LEAVING = 8.0  # seconds that it still holds them when its connection is lost
MOST_CLASSES = 500
MOST_ROWS = 20_000  # in one action; imports may have more
GIVES = ("label", "import")  # kinds of actions that give a label


class Held(UserError):
    """Another tab holds the item."""


@dataclass
class Votes:
    """What people did with one item: for each person the actions that hold, the last of which counts."""

    of: dict[str, list[tuple[int, str, str | None]]] = field(default_factory=dict)  # who: (action, kind, label)

    @property
    def labels(self) -> dict[str, tuple[int, str]]:
        """The label that each person gives, with the number of the action."""
        last = {who: steps[-1] for who, steps in self.of.items() if steps}
        return {who: (at, label) for who, (at, kind, label) in last.items() if kind in GIVES and label is not None}

    @property
    def label(self) -> str | None:
        """The most frequent label; of those that are tied, the latest."""
        labels = self.labels.values()
        counts = Counter(label for _, label in labels)
        return max(labels, key=lambda one: (counts[one[1]], one[0]))[1] if labels else None

    @property
    def skipped(self) -> bool:
        """Whether somebody skipped the item, and nobody labelled it."""
        return self.label is None and any(steps and steps[-1][1] == "skip" for steps in self.of.values())

    @property
    def differ(self) -> bool:
        """Whether people give different labels."""
        return len({label for _, label in self.labels.values()}) > 1


class Project:
    """What the page shows of a project. What changes it runs inside `store.write`."""

    def __init__(self, store: Store, classes: Sequence[str] = (), budget: int | None = None) -> None:
        self.store, self._lock = store, RLock()
        self.leases: dict[int, tuple[str, float]] = {}
        self.classes: list[str] = []
        store.on_failure = self.reload
        self.reload()
        for name in classes:
            self.add_class(name)
        known = store.meta("budget")
        self.budget: int = budget or (known if isinstance(known, int) and known > 0 else BUDGET)
        store.set_meta("budget", self.budget)

    def reload(self) -> None:
        """Read everything from the store."""
        with self._lock:
            self.votes: dict[int, Votes] = {}
            self.labels: dict[int, str] = {}
            self.skipped: set[int] = set()
            self.actions: dict[int, Action] = {}
            self.undone: set[int] = set()
            self.items = self.store.items()
            self.picks = {pick.row: pick for pick in self.store.picks()}
            self._order()
            known = self.store.meta("classes")
            self.classes = [name for name in known if isinstance(name, str)] if isinstance(known, list) else []
            for action in self.store.actions():
                self._apply(action)
            used = Counter(self.labels.values())
            self.classes += [name for name in used if name not in self.classes]

    @property
    def counts(self) -> dict[str, int]:
        """How many labels each class has."""
        counts = Counter(self.labels.values())
        return {name: counts[name] for name in self.classes}

    def waiting(self) -> list[int]:
        """Rows of the picks that have no label and are not skipped, in order."""
        return [row for row in self.queue if row not in self.labels and row not in self.skipped]

    def free(self) -> int:
        """How many picks wait that no tab holds."""
        now = time.monotonic()
        held = {row for row, (_, until) in [*self.leases.items()] if until > now}
        return sum(row not in held for row in self.waiting())

    def next(self, tab: str, hold: Iterable[int] = (), want: int = 5) -> list[int]:
        """Let this tab hold the rows `hold`, as far as no other does, and the next picks, `want` in all; these rows.

        Rows that it held and does not name are free again.
        """
        with self._lock:
            now, kept = time.monotonic(), [row for row in hold if self.holder(row, tab) is None]
            self.release(tab)
            self.leases = {row: lease for row, lease in self.leases.items() if lease[1] > now}
            for row in self.queue if len(kept) < want else ():
                if len(kept) >= want:
                    break
                if row not in self.labels and row not in self.skipped and row not in self.leases and row not in kept:
                    kept.append(row)
            self.leases |= dict.fromkeys(kept, (tab, now + LEASE))
            return kept

    def renew(self, tab: str, seconds: float = LEASE) -> None:
        """Extend the leases of this tab's rows to this many seconds from now."""
        with self._lock:
            until = time.monotonic() + seconds
            self.leases |= {row: (tab, until) for row, (holder, _) in self.leases.items() if holder == tab}

    def release(self, tab: str) -> None:
        """Free the rows that this tab holds."""
        with self._lock:
            self.leases = {row: lease for row, lease in self.leases.items() if lease[0] != tab}

    def holder(self, row: int, tab: str) -> str | None:
        """The other tab that holds this row, or None."""
        holder, until = self.leases.get(row, (tab, 0.0))
        return holder if holder != tab and until > time.monotonic() else None

    def act(self, action: Action) -> dict[str, Any]:
        """Write an action; what has changed. The same request a second time changes nothing."""
        with self._lock:
            if (known := self.store.number_of(action.request)) is not None:
                return self._changed(known)
            if action.kind == "undo":
                action = self._undoing(action)
            self._refuse_wrong(action)
            number = self.store.append(action)
            self._apply(replace(action, id=number))
            for row, _ in action.entries:
                if self.leases.get(row, ("",))[0] == action.tab:
                    del self.leases[row]
            return self._changed(number)

    def add_class(self, name: str) -> str:
        """Add a class at the end; its name without blanks around it."""
        name = " ".join(name.split())
        if not name or len(name) > LONGEST or not name.isprintable():
            raise UserError(f"{name[:40]!r} is no name of a class: write 1 to {LONGEST} printable characters")
        with self._lock:
            if name not in self.classes:
                if len(self.classes) >= MOST_CLASSES:
                    raise UserError(f"there are {MOST_CLASSES} classes already: merge some")
                self.store.set_meta("classes", [*self.classes, name])
                self.classes = [*self.classes, name]
        return name

    def set_budget(self, budget: int) -> None:
        """Change how many labels are planned."""
        self.store.set_meta("budget", budget)
        self.budget = budget

    def add_picks(
        self, picks: Sequence[tuple[int, str]], items: dict[int, tuple[str | None, Any]], first: bool
    ) -> None:
        """Add rows to label and why, after the others or before them, and what is shown of them."""
        with self._lock:
            places = [pick.place for pick in self.picks.values()]
            start = (min(places, default=0.0) - len(picks)) if first else max(places, default=-1.0) + 1
            added = [Pick(row, start + at, reason) for at, (row, reason) in enumerate(picks)]
            self.add_items(items)
            self.store.add_picks(added)
            self.picks |= {pick.row: pick for pick in added}
            self._order()

    def add_items(self, items: dict[int, tuple[str | None, Any]]) -> None:
        """Keep what is shown of these rows."""
        new = {row: one for row, one in items.items() if self.items.get(row) != one}
        self.store.add_items((row, *one) for row, one in new.items())
        self.items |= new

    def last_of(self, tab: str) -> Action | None:
        """The last action of this tab that is not undone."""
        mine = (one for one in reversed(self.actions.values()) if one.tab == tab and one.kind != "undo")
        return next((one for one in mine if one.id not in self.undone), None)

    def _order(self) -> None:
        self.queue = [pick.row for pick in sorted(self.picks.values(), key=lambda pick: (pick.place, pick.row))]

    def _undoing(self, action: Action) -> Action:
        last = self.last_of(action.tab)
        if last is None:
            raise UserError("there is nothing to undo")
        return replace(action, undoes=last.id, entries=[])

    def _refuse_wrong(self, action: Action) -> None:
        for row, label in action.entries:
            if action.kind == "label" and (other := self.holder(row, action.tab)) is not None:
                raise Held(f"row {row} is being labelled in another tab ({other[:8]})")
            if action.kind in GIVES and label not in self.classes:
                raise UserError(f"there is no class {label!r}: add it first")
        if len(action.entries) > MOST_ROWS and action.kind != "import":
            raise UserError(f"{len(action.entries):,} items at once are too many: take at most {MOST_ROWS:,}")

    def _apply(self, action: Action) -> None:
        """Let an action of the history take effect."""
        self.actions[action.id] = action
        rows = [row for row, _ in action.entries]
        if action.undoes is not None:
            undone = self.actions.get(action.undoes)
            if undone is None or undone.kind == "undo":  # no history of ours
                return
            self.undone.add(undone.id)
            rows = [row for row, _ in undone.entries]
            for row in rows:
                steps = self.votes[row].of[undone.who]
                steps[:] = [step for step in steps if step[0] != undone.id]
        for row, label in action.entries:
            self.votes.setdefault(row, Votes()).of.setdefault(action.who, []).append((action.id, action.kind, label))
        for row in rows:
            votes = self.votes[row]
            label = votes.label
            self.labels.pop(row, None)
            self.labels |= {} if label is None else {row: label}
            (self.skipped.add if votes.skipped else self.skipped.discard)(row)

    def _changed(self, number: int) -> dict[str, Any]:
        """What an action has changed, for all tabs."""
        action = self.actions[number]
        of = self.actions[action.undoes] if action.undoes is not None else action
        rows = [row for row, _ in of.entries]
        changes = [[row, self.labels.get(row), row in self.skipped] for row in rows]
        return {"action": number, "did": action.kind, "tab": action.tab, "who": action.who, "rows": changes}


def entries_of(rows: Iterable[int], label: str | None) -> Entries:
    """The same label for each of these rows, each once."""
    return [(row, label) for row in dict.fromkeys(rows)]
