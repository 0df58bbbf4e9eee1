"""Run a request of `mheal select`: read the pool and the labels, and call `mheal.select` once."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from rich.console import Console

from .. import api
from ..exceptions import UserError, how_many
from ..io.labels import Labels
from ..io.locate import TABLES, locate
from ..io.read import read_pool
from ..io.source import Source
from ..io.tables import on_disk, read_frames
from ..runtime import memory
from ..runtime.checkpoint import Checkpoint, NullCheckpoint, kept_unless_mistaken
from ..runtime.progress import as_progress
from ..selection import Selection
from ..strategies import Strategy, get
from ..strategies import names as strategies
from ..tables.names import is_answer
from ..tables.schema import choose
from ..uncertainty import FewLabelsWarning
from .cost import refuse_small_limit, shards_to_stream
from .options import Request
from .pool import answers_in, labels_in, print_labels, print_source, read, read_with_labels


@dataclass(frozen=True)
class Result:
    """The picks, the pool, the labels, a description of the model, and the seconds taken."""

    picks: Selection
    source: Source
    labels: Labels
    model: str
    seconds: dict[str, float]


@dataclass
class Job:
    """A request to run, with a folder for intermediate results.

    resume : whether intermediate results are kept even without a memory limit
    unfinished : the checkpoints; the caller ends them when the picks are written
    """

    request: Request
    console: Console
    folder: Path
    resume: bool
    unfinished: list[NullCheckpoint] = field(default_factory=list)

    def carry_out(self) -> Result:
        """Read the pool and pick."""
        start = perf_counter()
        source, labels = self._read()
        print_source(self.request.pool, source, self.console)
        print_labels(self.request.labeled, labels.values, self.console)
        between = perf_counter()
        picks, model = self._pick(source, labels)
        seconds = {"reading": between - start, "picking": perf_counter() - between}
        return Result(picks, source, labels, model, seconds)

    @property
    def strategy(self) -> type[Strategy]:
        """The strategy that picks."""
        return get(self.request.strategy)

    @property
    def queries_model(self) -> bool:
        """Whether the strategy may query a model: one fitted on the labels, or the user's probabilities."""
        able = self.strategy.needs_model or self.strategy.uses_model
        return able and bool(self.request.labeled or self.request.proba)

    def _read(self) -> tuple[Source, Labels]:
        """The pool and the labels. The pool is in memory, memory-mapped, on a cluster, or streamed to one file on disk.

        Memory that streaming leaves in use is freed when it is needed, so it does not count.
        """
        request, limit = self.request, self.request.memory_limit
        anywhere = partial(read, request, self.console, request.seed)
        if request.scheduler is not None:
            anywhere = partial(_on_cluster, request)
        if limit is None or request.scheduler is not None:
            return read_with_labels(anywhere, request, request.labeled, self.console)
        if not self.strategy.limits_memory:
            able = ", ".join(name for name in strategies() if get(name).limits_memory)
            raise UserError(f"{request.strategy} does not work within --max-memory: use {able}, or leave it out")
        present = memory.resident()
        if shards := shards_to_stream(request.pool, limit, present):
            source, labels = self._streamed(shards, limit, present)
        else:
            source, labels = read_with_labels(anywhere, request, request.labeled, self.console)
            present = memory.resident()
        X, mapped = source.X, isinstance(source.X, np.memmap)
        refuse_small_limit(limit, present, X.shape, X.dtype, mapped=mapped, model=self.queries_model)
        return source, labels

    def _streamed(self, shards: list[Path], limit: int, present: int) -> tuple[Source, Labels]:
        """The shards that do not fit into memory, copied to one file in the folder, and the labels."""
        from ..io.shards import stream_shards, unread

        request = self.request
        for option, value in {"--text": request.text, "--embed": request.embed}.items():
            if value is not None:
                raise UserError(f"{option} needs the pool in memory, and it does not fit: leave out --max-memory")

        files = unread(shards, choose(on_disk(shards, request.pool), **request.features))
        labels = labels_in(request.labeled, files, self.console)
        answers = answers_in(request, files, labels.values, labels.rows)

        def check(shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
            refuse_small_limit(limit, present, shape, dtype, np.float32, mapped=True, model=self.queries_model)

        with as_progress(True, self.console) as progress, memory.MemoryLimit(limit) as keeper:
            stages = Checkpoint(self.folder / "pool", keeper, progress)
            with kept_unless_mistaken(stages):
                source = stream_shards(shards, request.pool, stages, **request.features, answers=answers, check=check)
        self.unfinished.append(stages)
        return source, labels

    def _pick(self, source: Source, labels: Labels) -> tuple[Selection, str]:
        """The picks, and a description of the model."""
        request, n = self.request, len(source.X)
        rows, y = labels.rows, labels.values
        kept = _kept(request, source, rows)
        if len(kept) and (y is not None or request.labeled is None):  # kept picks have no labels yet
            y = np.full(n, None, object)
            y[rows] = labels.values
        cluster: AbstractContextManager[Any] = nullcontext()
        if request.scheduler is not None:
            from ..backends.dask import connected

            cluster, y = connected(request.scheduler), None  # a cluster picks without a model
        resumable = self.resume or (request.max_memory is not None and self.strategy.resumable)
        deduplicate: bool | Literal["auto"] | None = request.deduplicate
        if deduplicate is None:  # images, unlike rows of tables, are often stored twice by mistake
            images = source.kind == "images" and not resumable and "deduplicate" in self.strategy().get_params()
            deduplicate = images or "auto"
        budget = request.count(n - len(rows)) - len(kept)
        with (
            as_progress(True, self.console) as progress, cluster, _memory_errors(),
            warnings.catch_warnings(record=True) as warned,
        ):  # fmt: skip
            warnings.simplefilter("always", FewLabelsWarning)
            stages = Checkpoint(self.folder / "picks", None, progress) if resumable else None
            self.unfinished += [] if stages is None else [stages]
            progress(0, 0, f"picking {budget:,} of {n:,} rows")
            picks = api.select(
                source.X, budget, labeled=np.concatenate([rows, kept.indices]), y=y, estimator=request.estimator,
                proba=_proba(request, source), device=request.device, deduplicate=deduplicate,
                memory_limit=request.memory_limit, checkpoint=stages, progress=progress, **request.how,
            )  # fmt: skip
        for warning in warned:
            self.console.print(str(warning.message))
        self._refuse_equal(picks)
        unused = any(issubclass(warning.category, FewLabelsWarning) for warning in warned)
        return kept + picks, "" if unused else self._model(labels)

    def _model(self, labels: Labels) -> str:
        """A description of the model."""
        request = self.request
        if request.proba is not None:
            return f" with the probabilities in {request.proba}"
        fitted = request.estimator or (self.strategy.default_estimator if self.queries_model else None)
        if fitted is None or labels.values is None or request.scheduler is not None:
            return ""
        return f" with {fitted} fitted on {how_many(len(labels.rows), 'label')}"

    def _refuse_equal(self, picks: Selection) -> None:
        """Raise an error if most picks equal a labelled or earlier row; print a message if fewer do."""
        alike = int((picks.gain == 0).sum())
        different = len(picks) - alike
        after = f"after {how_many(different, 'pick')} every other row equals a labelled or picked one"
        wrong = f"{self.request.pool}: {after}"
        if alike > different:
            enough = f"give a budget of at most {different}" if different else "nothing is left to pick"
            raise UserError(f"{wrong}: {enough}, or give other columns")
        if alike:
            self.console.print(f"{wrong}: the last {how_many(alike, 'pick')} add nothing")


def _on_cluster(request: Request, answers: Sequence[str] = ()) -> Source:
    """Parquet files read on a cluster: X is a Dask array, and ids are read only when they are needed."""
    from ..io.shards import read_on_cluster

    for option in ("text", "embed", "max_memory", "device"):
        if getattr(request, option) is not None:
            name = option.replace("_", "-")
            raise UserError(f"--scheduler and --{name} do not go together: leave out --{name}")
    try:
        return read_on_cluster(request.pool, **request.features, answers=answers)
    except ImportError as error:
        raise UserError("--scheduler needs Dask: pip install 'mheal[dask]'") from error


def _kept(request: Request, source: Source, labeled: npt.NDArray[np.int64]) -> Selection:
    """The earlier picks to keep, with their present row numbers in the pool."""
    if request.keep is None:
        return Selection.of([])
    old, now = Selection.load(request.keep), labels_in(request.keep, source, only_labelled=False).rows
    if len(now) != len(old):
        raise UserError(f"{request.keep} names a row twice, or one that the pool leaves out: delete it there")
    if len(old) >= request.count(len(source.X) - len(labeled)):
        raise UserError(f"{request.keep} holds {how_many(len(old), 'pick')} already: give a larger budget")
    both = now[np.isin(now, labeled)]
    if len(both):
        raise UserError(f"row {both[0]} is in --keep and in --labeled: delete it from one of them")
    return Selection(now, old.cluster, old.gain, old.radius, old.reason)


def _proba(request: Request, source: Source) -> npt.NDArray[Any] | None:
    """The probabilities in the file. Its rows are matched by id if both files have ids, else by order."""
    if request.proba is None:
        return None
    files = locate(request.proba)
    classes = read_frames(files.files).columns if files.form in TABLES else []
    found = read_pool(request.proba, missing="refuse", also=[name for name in classes if is_answer(name)])
    if source.ids is None or found.ids is None:
        whole = source.rows is not None and len(found.X) == source.n_rows
        return found.X[source.rows] if whole else found.X
    places = {name: row for row, name in enumerate(found.ids)}
    try:
        return found.X[[places[name] for name in source.ids_of(np.arange(len(source.X))) or ()]]
    except KeyError as error:
        name = error.args[0]
        raise UserError(f"{request.proba} has no row for id {name!r}: predict all rows of the pool") from error


@contextmanager
def _memory_errors() -> Iterator[None]:
    """Report too little memory as a UserError with a remedy."""
    try:
        yield
    except MemoryError as error:
        remedy = "write the pool to a .npy file with `mheal embed`, and use --max-memory"
        raise UserError(f"not enough memory ({error}): {remedy}") from error
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":  # compared by name, since torch may not be installed
            raise
        remedy = "stop other programs on it, or leave out --device to use the CPU"
        raise UserError(f"the GPU has too little free memory: {remedy}") from error
