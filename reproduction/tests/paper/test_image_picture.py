import numpy as np
from matplotlib.image import imread

from mheal_reproduction.paper.images.measured import Measured
from mheal_reproduction.paper.images.page import page
from mheal_reproduction.paper.images.picture import PANELS, _figure, draw
from mheal_reproduction.paper.images.published import accuracies


def test_pictures_of_the_datasets_that_have_rows(clean, tmp_path, rows_of, shown):
    sim = rows_of("MHEAL, SimCLR", [0.7] * 4, "cifar100") + rows_of("Random", [0.6] * 4, "cifar100", seeds=1)
    draw(tmp_path, "repeated", [*clean, *sim], shown)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure16.png", "figure18.png"]
    assert imread(tmp_path / "figure16.png").std() > 0.05
    text = page("repeated", [*clean, *sim], shown, False)
    for path in tmp_path.iterdir():
        assert f"]({path.name})" in text
    assert text.count("](figure") == 2


def test_panels_show_every_method_with_random_and_the_default(clean, shown):
    titles = [title for title in shown if not title.endswith("SimCLR")]
    axes = _figure("clean", "mnist", Measured(clean), titles).axes
    names = [[text.get_text() for text in ax.texts] for ax in axes]
    assert [ax.get_title(loc="left") for ax in axes[:2]] == list(PANELS[:2])
    assert names[0] == ["MHEAL", "MHEAL (paper)", "Random", "K-means", "TypiClust"]  # by accuracy at the end
    assert names[1] == ["MHEAL", "BALD", "Random"]
    assert [set(lower) for lower in names[2:]] == [set(upper) for upper in names[:2]]
    crosses = next(line for line in axes[0].get_lines() if line.get_marker() == "x")
    assert crosses.get_ydata().tolist() == list(accuracies("clean", "mnist")["MHEAL"].values())
    below = next(line for line in axes[2].get_lines() if line.get_marker() == "x")
    np.testing.assert_allclose(below.get_ydata()[0], 0.8648 - 0.85)
    heights = [text.get_position()[1] for text in axes[0].texts]
    assert np.diff(heights).max() < -0.001  # names do not lie on each other


def test_without_random_the_picture_has_one_row_and_with_few_seeds_no_bands(rows_of):
    found = Measured(rows_of("BALD", [0.5] * 4, seeds=1) + rows_of("MHEAL", [0.6] * 4, seeds=1))
    figure = _figure("noisy", "mnist", found, ["BALD", "MHEAL"])
    assert len(figure.axes) == 1
    assert not figure.axes[0].collections
    assert "one seed" in figure.get_suptitle()
    two = Measured(rows_of("BALD", [0.5] * 4, seeds=2) + rows_of("MHEAL", [0.6] * 4, seeds=2))
    figure = _figure("noisy", "mnist", two, ["BALD", "MHEAL"])
    assert not figure.axes[0].collections  # an interval of two seeds would cover everything
    assert "mean of up to 2 seeds" in figure.get_suptitle()
    many = Measured(rows_of("BALD", [0.5] * 4) + rows_of("MHEAL", [0.6] * 4))
    assert len(_figure("noisy", "mnist", many, ["BALD", "MHEAL"]).axes[0].collections) == 2


def test_runs_without_picks_can_be_shown(tmp_path, rows_of, shown):
    rows = rows_of("Random", []) + rows_of("BALD", [])
    draw(tmp_path, "clean", rows, shown)
    assert [path.name for path in tmp_path.iterdir()] == ["figure13.png"]
    assert "There is nothing to compare." in page("clean", rows, shown, quick=True)
