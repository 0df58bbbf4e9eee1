"""The rows of an experiment in a JSON Lines file, written as results come, so that an interrupted run resumes."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import mheal
from mheal.exceptions import UserError
from mheal.runtime.files import replacing
from mheal.runtime.progress import Progress
from mheal.runtime.threads import THREADS_VARIABLE

Row = dict[str, Any]
Key = tuple[str, str, str, int]  # dataset, method, setting, seed
KEY = ("dataset", "method", "setting", "seed")
PROTOCOL = "protocol.json"
VERSION = "mheal"  # the column with the version that made a row


class RawRows:
    """The rows in `folder`/rows.jsonl, made under the protocol in `folder`/protocol.json.

    A row has its experiment, dataset, method, setting and seed, the version of mheal that made it, and what was
    measured. The protocol has the other settings of the experiment that the rows depend on: sizes, budgets, recipes.
    Defaults of mheal are not part of it. The file is replaced in one step, so after a kill it has only whole rows, and
    all or none of the rows that were added together.
    """

    def __init__(
        self, folder: Path, experiment: str, protocol: Mapping[str, Any], version: str = mheal.__version__
    ) -> None:
        self.file, self.experiment, self.version = folder / "rows.jsonl", experiment, version
        folder.mkdir(parents=True, exist_ok=True)
        lines: list[str] = []
        if self.file.exists():
            if not made_so(folder, protocol):
                raise UserError(f"{self.file} has another protocol: name another folder with --out, or delete that one")
            lines = self.file.read_text(encoding="utf-8").splitlines()
        else:
            with replacing(folder / PROTOCOL) as part:
                part.write_text(json.dumps(protocol, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        self.rows: list[Row] = [json.loads(line) for line in lines]
        self.done = {_key(row) for row in self.rows}
        self._text = "".join(f"{line}\n" for line in lines)

    def has(self, dataset: str, method: str, setting: str, seed: int) -> bool:
        """Whether there is a row for this."""
        return (dataset, method, setting, seed) in self.done

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows to the file, all or none. Floats keep six digits; infinite ones and NaN become null."""
        about = {"experiment": self.experiment, VERSION: self.version}
        new = [about | {key: _plain(value) for key, value in row.items()} for row in rows]
        keys = [_key(row) for row in new]
        text = self._text + "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in new)
        with replacing(self.file) as part:
            part.write_text(text, encoding="utf-8")
        self.rows, self._text = self.rows + new, text
        self.done.update(keys)

    def where(self, **wanted: Any) -> list[Row]:
        """The rows whose columns have these values, or one of several values if a collection is given."""
        sets = {
            key: set(value) if isinstance(value, list | tuple | set | range) else {value}
            for key, value in wanted.items()
        }
        return [row for row in self.rows if all(row[key] in values for key, values in sets.items())]


def made_so(folder: Path, protocol: Mapping[str, Any]) -> bool:
    """Whether the rows in `folder` have this protocol."""
    note = folder / PROTOCOL
    return note.exists() and bool(json.loads(note.read_text(encoding="utf-8")) == json.loads(json.dumps(protocol)))


def versions(rows: Iterable[Row]) -> list[str]:
    """The versions of mheal that made these rows, in order of appearance."""
    return list(dict.fromkeys(row[VERSION] for row in rows))


def stored_rows(folder: Path) -> list[Row]:
    """The rows in `folder`, whatever their protocol; an empty list if there is no file."""
    file = folder / "rows.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def measure_all(
    rows: RawRows,
    units: Iterable[Key],
    measure: Callable[..., Mapping[str, Any]],
    arguments: tuple[Any, ...],
    progress: Progress,
    workers: int = 1,
) -> None:
    """Add measure(dataset, method, setting, seed, *arguments) for every unit that has no row yet.

    With several workers, units are measured in as many processes of one thread; rows are added as units finish.
    """
    units = list(dict.fromkeys(units))
    missing = [unit for unit in units if not rows.has(*unit)]
    done = len(units) - len(missing)
    progress(done, len(units), "")
    if workers == 1:
        for unit in missing:
            rows.add([dict(zip(KEY, unit, strict=True)) | dict(measure(*unit, *arguments))])
            done += 1
            progress(done, len(units), ", ".join(map(str, unit)))
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), one_thread) as pool:
        futures = {pool.submit(measure, *unit, *arguments): unit for unit in missing}
        try:
            for future in as_completed(futures):
                unit = futures[future]
                rows.add([dict(zip(KEY, unit, strict=True)) | dict(future.result())])
                done += 1
                progress(done, len(units), ", ".join(map(str, unit)))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def one_thread() -> None:
    """Limit this process to one thread: loaded libraries directly, and those to come by environment variables."""
    from threadpoolctl import threadpool_limits

    os.environ.update({"OMP_NUM_THREADS": "1", THREADS_VARIABLE: "1"})
    threadpool_limits(1)


def _key(row: Row) -> Key:
    dataset, method, setting, seed = (row[column] for column in KEY)
    return dataset, method, setting, seed


def _plain(value: Any) -> Any:
    """The value as JSON can store it: NumPy numbers and arrays become Python's."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if abs(value) < float("inf") else None
    return value
