import json
import re

import numpy as np
import pytest

from mheal_reproduction.paper.table1 import experiment as table1
from mheal_reproduction.paper.table1.deep import missing
from mheal_reproduction.paper.table1.experiment import measure, open_rows, run, write
from mheal_reproduction.paper.table1.images import DATASETS, draw_images, figure_sizes, table_sizes
from mheal_reproduction.paper.table1.names import METHODS, RAW
from mheal_reproduction.paper.table1.numbers import PAPER, Accuracies
from mheal_reproduction.paper.table1.page import CLAIMS, page
from mheal_reproduction.rows import stored_rows


def silent(done, total, what):
    pass


@pytest.fixture(scope="module")
def finished(images, tmp_path_factory):
    out = tmp_path_factory.mktemp("table1")
    return out, run(out, images, 2, True, silent)


def rows_of(out):
    return [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]


def cells_of(text, start):
    """The cells of all table lines that begin so."""
    return [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line.startswith(start)]


def seeds_of(text):
    return int(re.search(r"(\d+) seeds", text)[1])


def test_it_writes_rows_page_and_pictures(finished):
    out, page = finished
    files = ["README.md", "deep", "figure9.png", "protocol.json", "rows.jsonl", "table1.png"]
    assert sorted(p.name for p in out.iterdir()) == files
    assert (out / "README.md").read_text() == page
    rows = rows_of(out)
    assert len(rows) == 2 * 3 * 3 * 2 * 2  # datasets, methods, sizes, starts, seeds
    assert {row["setting"] for row in rows} == {f"n={n} n_init={s}" for n in (200, 500, 1000) for s in (1, 10)}
    assert all(0.1 < row["accuracy"] < 1 and 1 <= row["iterations"] <= 60 for row in rows)
    assert "nan" not in page
    against = [line for line in page.splitlines() if "fashion_mnist" in line and "55.03" in line and "53.12" in line]
    assert len(against) == 1  # where the paper's own table contradicts its text


def test_deep_runs_that_are_missing_are_counted(finished):
    rows = stored_rows(finished[0] / "deep")
    assert missing(rows, 2, True) == ""
    note = missing(rows[1:], 2, True)
    assert note in page(Accuracies([*rows_of(finished[0]), *rows[1:]], table_sizes(True)), True, note)
    size = rows[0]["setting"].removeprefix("n=")
    assert re.findall(r"\d+", note.replace(",", "")) == [str(len(rows)), "2", "1", size]  # wanted, seeds, missing, n


def test_ten_starts_reach_a_better_objective_than_one(finished):
    found = Accuracies(rows_of(finished[0]), table_sizes(True))
    for name in DATASETS:
        for method in METHODS:
            one, ten = (found.column(name, method, f"n_init={s}", 1000, "objective") for s in (1, 10))
            assert (ten <= one + 1e-3 * abs(one)).all()


def test_a_second_run_measures_nothing_and_writes_the_same(finished, images, monkeypatch):
    out, page = finished
    before = {p.name: p.read_bytes() for p in out.glob("*.*")}
    monkeypatch.setattr(table1, "measure", None)  # calling it would fail
    assert run(out, images, 2, True, silent) == page
    assert seeds_of(run(out, images, 1, True, silent)) == 2  # rows that are there are not thrown away
    assert {p.name: p.read_bytes() for p in out.glob("*.*")}["rows.jsonl"] == before["rows.jsonl"]
    assert write(out, 2, True) == page
    assert {p.name: p.read_bytes() for p in out.glob("*.*")} == before


def test_the_sizes_of_the_figure_are_no_part_of_the_statistics_of_the_table(finished):
    assert figure_sizes(False) == (1000, 5000, *table_sizes(False))
    rows = rows_of(finished[0])
    all_sizes, table = (Accuracies(rows, sizes) for sizes in (figure_sizes(True), table_sizes(True)))
    extra = [{**row, "accuracy": 0.999} if row["setting"].startswith("n=200 ") else row for row in rows]
    shown, shifted = (page(Accuracies(some, table_sizes(True)), True, "") for some in (rows, extra))
    sections = [text.split("## Mean ±")[0] for text in (shown, shifted)]
    assert sections[0] == sections[1]
    assert shown != shifted  # there is a column of it
    assert all_sizes.grids("mnist", RAW[0])[0] == [200, 500, 1000]
    assert table.grids("mnist", RAW[0])[0] == [500, 1000]


def test_spherical_clusters_do_not_see_the_length_of_rows_and_euclidean_ones_do(images, monkeypatch):
    setting = "n=500 n_init=1"
    plain = {m: measure("mnist", m, setting, 0, images)["accuracy"] for m in ("K-means", "SphericalKMeans")}
    X, y = draw_images("mnist", 500, 0, images)
    stretch = np.where(np.arange(500) % 2, 8, 1).astype(np.float32)[:, None]
    monkeypatch.setattr(table1, "draw_images", lambda *_: (X * stretch, y))
    stretched = {m: measure("mnist", m, setting, 0, images)["accuracy"] for m in plain}
    assert stretched["SphericalKMeans"] == plain["SphericalKMeans"]
    assert stretched["K-means"] < plain["K-means"] - 0.1


def test_a_seed_draws_nested_images_and_another_seed_others(images):
    small, large, other = (draw_images("mnist", n, seed, images) for n, seed in ((100, 1), (300, 1), (100, 2)))
    np.testing.assert_array_equal(small[0], large[0][:100])
    np.testing.assert_array_equal(small[1], large[1][:100])
    assert (small[0] != other[0]).any()
    assert small[0].dtype == np.float32
    assert small[0].shape == (100, 64)
    assert 0.9 < small[0].max() <= 1
    with pytest.raises(ValueError, match="has 1797 training images, and Table 1 needs 60000"):
        draw_images("mnist", 60_000, 0, images)


def fake(leads):
    """Rows in which SphericalKMeans leads K-means by so much, a seed each, and GMM is far behind."""
    for seed, lead in enumerate(leads):
        for name in DATASETS:
            for method, accuracy in zip(METHODS, (0.5, 0.3, 0.5 + lead), strict=True):
                for n in (10, 20):
                    for starts in (1, 10):
                        setting = f"n={n} n_init={starts}"
                        yield {
                            **dict(dataset=name, method=method, setting=setting, seed=seed),
                            **dict(accuracy=accuracy, iterations=1, seconds=1.0),
                        }


@pytest.mark.parametrize(
    ("leads", "verdict"),
    [
        ((0.02, 0.03, 0.02), "reproduced"),
        ((-0.02, -0.03, -0.02), "refuted"),
        ((0.02, -0.03, 0.02), "not reproduced"),
    ],
)
def test_the_verdict_follows_from_the_rows(leads, verdict):
    text = page(Accuracies(fake(leads), (10, 20)), False, "")
    cells = cells_of(text, "| SphericalKMeans beats K-means")[0]
    assert [cell.partition(": ")[2] for cell in cells[3:]] == [verdict, verdict]
    assert cells[2] == "+1.9"  # the paper's


def test_a_verdict_from_some_of_the_sizes_says_so():
    found = Accuracies(fake([0.02, 0.03, 0.02]), (10, 20, 30))
    assert found.judge(CLAIMS[0], "mnist", RAW[0]).endswith(": reproduced (2 of 3 sizes)")


def test_one_seed_decides_nothing():
    text = page(Accuracies(fake([0.1]), (10, 20)), False, "")
    assert "nan" not in text
    decided = [cell for claim in CLAIMS for row in cells_of(text, f"| {claim.words} |") for cell in row[3:]]
    assert len(decided) == 2 * len(CLAIMS) * len(DATASETS)
    assert not any(re.search(r"\d|reproduced|refuted", cell) for cell in decided)


def test_claims_of_the_paper_hold_in_its_own_table_but_for_one():
    leads = {
        (claim.words, name): claim.lead({method: PAPER[name, method] for method in METHODS})
        for claim in CLAIMS
        for name in DATASETS
    }
    assert [key for key, lead in leads.items() if lead < 0] == [
        ("SphericalKMeans has the best optimum", "fashion_mnist")
    ]


def test_rows_made_in_another_way_are_refused(finished, tmp_path):
    (tmp_path / "rows.jsonl").write_bytes((finished[0] / "rows.jsonl").read_bytes())
    (tmp_path / "protocol.json").write_text('{"starts": [3]}')
    with pytest.raises(ValueError, match="has another protocol"):
        open_rows(tmp_path)
