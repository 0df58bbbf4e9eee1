"""SimCLR: views of images, the loss that tells pairs of them apart, and what an encoder learns from it."""

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

torch = pytest.importorskip("torch")

from mheal.cli import main  # noqa: E402
from mheal.embed import simclr  # noqa: E402
from mheal.embed.device_images import Images, as_pixels, random_views  # noqa: E402
from mheal.embed.simclr import SimCLR, encode, nt_xent  # noqa: E402

digits = load_digits()
X, y = (digits.images * 15.9).astype(np.uint8), digits.target
COLOUR = torch.randint(256, (64, 12, 10, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
GREY = torch.as_tensor(X[:64, :, :, None])


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def views(pixels, seed=0):
    return random_views(pixels, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("pixels", [COLOUR, GREY], ids=["colour", "grey"])
def test_views_keep_shape_and_range(pixels):
    seen = views(pixels)
    assert seen.shape == pixels.permute(0, 3, 1, 2).shape
    assert seen.dtype == torch.float32
    assert seen.min() >= 0
    assert 100 < seen.max() <= 255


@pytest.mark.parametrize("pixels", [COLOUR, GREY], ids=["colour", "grey"])
def test_views_depend_on_the_generator_alone(pixels):
    generator = torch.Generator().manual_seed(7)
    first, second = random_views(pixels, generator), random_views(pixels, generator)
    assert torch.equal(first, views(pixels, 7))
    for a, b in zip(first, second, strict=True):
        assert not torch.equal(a, b)


def test_images_of_a_batch_have_draws_of_their_own():
    seen = views(COLOUR[:1].expand(64, -1, -1, -1))
    assert len({tuple(view.flatten().tolist()) for view in seen}) == 64


def test_a_grey_view_is_an_upright_part_of_its_image():
    down, across = torch.meshgrid(torch.arange(30), torch.arange(20), indexing="ij")
    rows, columns = (
        views(ramp.to(torch.uint8)[None, :, :, None].expand(300, -1, -1, -1))[:, 0] for ramp in (down, across)
    )
    assert (rows.diff(dim=1) >= -1e-4).all()  # top stays top
    assert (columns.diff(dim=2) >= -1e-4).all()  # and nothing is mirrored
    assert rows.diff(dim=2).abs().max() < 1e-3
    height = (rows[:, -2, 0] - rows[:, 1, 0]) / 27  # the outermost rows may lie between a pixel and the border
    width = (columns[:, 0, -2] - columns[:, 0, 1]) / 17
    area = height * width
    assert 0.45 < area.min() < 0.6
    assert 0.9 < area.max() < 1.01
    assert ((height / width > 0.74) & (height / width < 1.35)).all()


def test_half_of_the_colour_views_are_mirrored():
    ramp = torch.arange(20, dtype=torch.uint8)[None, None, :, None].expand(400, 20, -1, 3)
    mirrored = (views(ramp).mean(dim=(1, 2)).diff(dim=1).sum(dim=1) < 0).float().mean()
    assert 0.4 < mirrored < 0.6


def test_colours_change_and_sometimes_vanish():
    red = torch.tensor([120, 60, 60], dtype=torch.uint8).expand(1000, 4, 4, 3)
    seen = views(red)[:, :, 0, 0]
    grey = (seen.std(dim=1) < 1e-3).float().mean()
    same = (seen - torch.tensor([120.0, 60, 60])).abs().amax(dim=1) < 1e-2
    assert 0.16 < grey < 0.24
    assert 0.12 < same.float().mean() < 0.2  # .2 are not recoloured, and .8 of them not made grey
    assert seen.mean(dim=1).std() > 10
    coloured = seen[seen.std(dim=1) > 1e-3]
    assert (coloured.argmax(dim=1) == 0).all()  # the hue turns by a tenth of the circle, not to another colour
    assert (coloured[:, 1] > coloured[:, 2] + 1).any()
    assert (coloured[:, 2] > coloured[:, 1] + 1).any()


def test_the_loss_is_that_of_the_definition():
    z = torch.randn(10, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    unit = z / z.norm(dim=1, keepdim=True)
    total = 0.0
    for i in range(10):
        twin = (i + 5) % 10
        others = sum(float(torch.exp(unit[i] @ unit[k] / 0.3)) for k in range(10) if k != i)
        total -= np.log(float(torch.exp(unit[i] @ unit[twin] / 0.3)) / others)
    assert float(nt_xent(z, 0.3)) == pytest.approx(total / 10, rel=1e-12)


def like(images, others):
    """Other images, normalised like these."""
    return Images(as_pixels(others, "cpu"), images.mean, images.deviation)


def neighbours_agree(model, images, labels, test, test_labels):
    knn = KNeighborsClassifier(20, metric="cosine").fit(model.features(images).numpy(), labels)
    return knn.score(model.features(test).numpy(), test_labels)


@pytest.fixture(scope="module")
def trained():
    """A small encoder of 600 digits; its losses, and the accuracy of 20 neighbours on others before and after."""
    torch.set_num_threads(1)
    images = Images.load(X[:600], "cpu")
    test = like(images, X[-500:])
    with SimCLR(images, epochs=12, width=8) as model:
        before = neighbours_agree(model, images, y[:600], test, y[-500:])
        losses = [model.epoch() for _ in range(12)]
        return model, losses, before, neighbours_agree(model, images, y[:600], test, y[-500:])


def test_the_loss_falls(trained):
    losses = trained[1]
    assert losses[-1] < losses[0] - 0.8
    assert np.mean(losses[-3:]) < np.mean(losses[3:6]) < losses[0]


def test_features_of_unseen_digits_are_better_than_those_of_an_untrained_encoder(trained):
    _, _, before, after = trained
    assert after > before + 0.1


def test_views_of_one_image_are_closer_than_images(trained):
    model = trained[0]
    pixels = torch.as_tensor(X[600:800, :, :, None])
    one, other = (model.features(like(model.images, views(pixels, seed).round().to(torch.uint8))) for seed in (1, 2))
    cosines = one @ other.T
    own = cosines.diagonal()
    assert own.mean() > cosines.mean() + 0.2
    assert (own[:, None] > cosines).float().mean() > 0.9


def test_looking_at_features_changes_nothing():
    states = []
    for look in (False, True):
        with SimCLR(Images.load(X[:64], "cpu"), epochs=2, width=4) as model:
            for _ in range(2):
                if look:
                    model.features(model.images)
                model.epoch()
            states.append(model.features(model.images))
    assert torch.equal(*states)


def test_the_rate_rises_then_falls_to_nothing():
    model = SimCLR(Images.load(X[:320], "cpu"), epochs=20, width=4)  # 10 steps an epoch, the first 10 are warm-up
    rates = [model.rate_at(step) for step in range(200)]
    assert np.argmax(rates) in (9, 10)
    assert rates[9] == pytest.approx(simclr.RATE * 32 / 256)
    assert (np.diff(rates[:10]) > 0).all()
    assert (np.diff(rates[10:]) < 0).all()
    assert 0 < rates[-1] < 1e-3 * rates[9]


@pytest.mark.parametrize("images", [X[:50], COLOUR.numpy(), X[:40, :, :, None]], ids=["grey", "colour", "one channel"])
def test_features_have_unit_length_and_the_seed_reproduces_them(images):
    first, again, other = (encode(images, epochs=2, width=4, device="cpu", seed=seed) for seed in (0, 0, 1))
    assert first.shape == (len(images), 32)
    assert first.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.01


def test_the_callers_random_numbers_are_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    encode(X[:40], epochs=1, width=4, device="cpu")
    assert torch.equal(torch.rand(3), expected)


def test_progress_counts_steps():
    calls = []
    encode(X[:100], epochs=2, width=4, device="cpu", progress=lambda *call: calls.append(call))
    assert calls == [(step + 1, 6, "training SimCLR") for step in range(6)]


def test_large_images_are_looked_at_small():
    corner = np.arange(10)
    images = np.zeros((10, 90, 70, 3), np.uint8)
    images[corner, :, :, 0] = 20 * corner[:, None, None]
    shrunk = simclr._small(torch.as_tensor(images), "cpu")
    assert shrunk.shape == (10, 3, 32, 32)
    np.testing.assert_array_equal(shrunk[:, 0, 5, 5], 20 * corner)
    assert encode(images, epochs=1, width=2, device="cpu").shape == (10, 16)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (X[:20] / 255, "bytes"),
        (X[:20].reshape(20, -1), r"height, width"),
        (np.zeros((9, 3, 8, 8), np.uint8), r"1 or 3\), not \(9, 3, 8, 8\)"),
        (X[:1], "at least 2"),
    ],
)
def test_images_that_cannot_be_learnt_from(images, message):
    with pytest.raises(ValueError, match=message):
        encode(images, epochs=1, width=2, device="cpu")


def test_no_epochs_are_refused():
    with pytest.raises(ValueError, match="epochs must be at least 1, not 0"):
        encode(X[:20], epochs=0, width=2, device="cpu")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(simclr.torch.cuda, "is_available", lambda: False)
    (tmp_path / "images").mkdir()
    for at in range(40):
        Image.fromarray(X[at]).save(tmp_path / "images" / f"{at:02}.png")
    return tmp_path


def test_the_command_writes_the_features(folder, capfd):
    assert main(["embed", "images", "--embed", "simclr:1", "--out", "vectors.npy", "--seed", "2"]) == 0
    assert "40 rows, images 8×8 grey, SimCLR to 512 columns" in capfd.readouterr().err
    np.testing.assert_array_equal(np.load("vectors.npy"), encode(X[:40], epochs=1, seed=2))


def test_an_interrupted_command_writes_nothing(folder, monkeypatch):
    def interrupted(self, progress):
        progress(1, 2, "training SimCLR")
        raise KeyboardInterrupt

    monkeypatch.setattr(SimCLR, "epoch", interrupted)
    before = sorted(folder.rglob("*"))
    assert main(["embed", "images", "--embed", "simclr:2", "--out", "vectors.npy"]) == 130
    assert sorted(folder.rglob("*")) == before


def on_gpu(graph):
    images = Images.load(COLOUR.repeat(4, 1, 1, 1).permute(0, 3, 1, 2), "cuda")
    with SimCLR(images, epochs=3, width=16) as model:
        if not graph:
            model.graph = None
        return [model.epoch() for _ in range(3)], model.features(images).cpu()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_graph_computes_what_single_kernels_compute():
    (losses, features), (eager_losses, eager_features) = on_gpu(True), on_gpu(False)
    np.testing.assert_allclose(losses, eager_losses, rtol=1e-3)
    assert (features * eager_features).sum(dim=1).min() > 0.99


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_seed_reproduces_features_on_a_gpu():
    (losses, features), (again, same) = on_gpu(True), on_gpu(True)
    assert losses == again
    assert torch.equal(features, same)
