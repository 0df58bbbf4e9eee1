"""Arrays of other libraries: picks and clusters as of NumPy's; on a device, one line with the remedy."""

import os
import subprocess
import sys

import array_api_strict as xp
import numpy as np
import pytest

import mheal
from mheal.exceptions import UserTypeError

X = np.random.default_rng(0).normal(size=(200, 4))


class Exported:
    """An array that has no more than the standard asks for: its memory can be exported."""

    def __init__(self, values, device=None):
        self.values, self.device = values, device

    def __dlpack__(self, **how):
        if self.device is not None:
            raise BufferError(f"the array is on {self.device}")
        return self.values.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.parametrize("pool", [xp.asarray(X), Exported(X)], ids=["array_api_strict", "DLPack"])
def test_picks_are_those_of_numpy(pool):
    for strategy in ("mheal", "mheal-paper", "coreset"):
        assert mheal.select(pool, 5, strategy=strategy) == mheal.select(X, 5, strategy=strategy)


@pytest.mark.parametrize(
    "pool", [xp.asarray(X, device=xp.Device("device1")), Exported(X, "a device")], ids=["array_api_strict", "DLPack"]
)
def test_an_array_on_a_device_is_refused_with_the_remedy(pool):
    with pytest.raises(UserTypeError, match="copy it there first"):
        mheal.select(pool, 5)


CLUSTERS = """
import array_api_strict as xp, mheal, numpy as np, sklearn
X = np.random.default_rng(0).normal(size=(200, 4))
pool, plain = xp.asarray(X), mheal.SphericalKMeans(3, random_state=0).fit(X)
for dispatch in (False, True):
    with sklearn.config_context(array_api_dispatch=dispatch):
        ours = mheal.SphericalKMeans(3, random_state=0).fit(pool)
        np.testing.assert_array_equal(ours.labels_, plain.labels_)
        np.testing.assert_array_equal(ours.predict(pool), plain.predict(X))
        np.testing.assert_array_equal(ours.transform(pool), plain.transform(X))
"""


def test_clusters_are_those_of_numpy_also_where_scikit_learn_dispatches():
    env = {**os.environ, "SCIPY_ARRAY_API": "1"}  # which SciPy reads when it is imported
    done = subprocess.run([sys.executable, "-c", CLUSTERS], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_labels_and_probabilities_may_be_such_arrays_too():
    rows, labels, proba = np.arange(100), X[:100, 0] > 0, np.random.default_rng(1).dirichlet([1, 1], len(X))
    picks = mheal.select(X, 5, labeled=xp.asarray(rows), y=xp.asarray(labels))
    assert picks == mheal.select(X, 5, labeled=rows, y=labels)
    picks = mheal.select(X, 5, labeled=xp.asarray(rows), proba=xp.asarray(proba))
    assert picks == mheal.select(X, 5, labeled=rows, proba=proba) != mheal.select(X, 5, labeled=rows)
