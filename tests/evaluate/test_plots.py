import numpy as np
import pytest
from sklearn.datasets import load_iris

import mheal
from mheal.evaluate import learning_curve
from mheal.evaluate.plots import accuracy_picture, coverage_picture, pool_picture

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("turn", [None, 12])
def test_cover_is_a_png_that_shows_the_knee(turn):
    radius = 1 / np.arange(1, 101)
    drawn = coverage_picture(radius, turn)
    assert drawn.startswith(PNG)
    assert (drawn == coverage_picture(radius)) == (turn is None)


def test_forecast_is_a_png_that_shows_the_target_and_all_curves():
    curve = learning_curve(*load_iris(return_X_y=True), repeats=1)
    one = {"accuracy": curve}
    plain = accuracy_picture(one, 400)
    assert plain.startswith(PNG)
    assert plain == accuracy_picture(one, 400)
    assert plain != accuracy_picture(one, 400, target=0.9)
    assert plain != accuracy_picture(one | {"balanced accuracy": curve.balanced}, 400)


@pytest.mark.parametrize("strategy", ["mheal", "random"])  # random measures no distances
@pytest.mark.parametrize("columns", [4, 1])
def test_picks_are_drawn_in_their_pool(strategy, columns):
    X = load_iris().data[:, :columns]
    picks = mheal.select(X, 12, strategy=strategy)
    drawn = pool_picture(X, picks, 0)
    assert drawn.startswith(PNG)
    assert drawn == pool_picture(X, picks, 0)
