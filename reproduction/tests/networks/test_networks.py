import pytest
import torch

from mheal_reproduction.networks.architectures import BayesianCNN, Dropout, ResNet20, build, dropping, use_generator


def parameters(network):
    return sum(weight.numel() for weight in network.parameters())


@pytest.mark.parametrize(("classes", "count"), [(10, 269_722), (100, 275_572)])
def test_resnet20_has_the_published_number_of_parameters(classes, count):
    assert parameters(ResNet20((3, 32, 32), classes)) == count


def test_bayesian_cnn_has_gals_layers():
    network = BayesianCNN((1, 28, 28), 10)
    layers = [layer for layer in network.modules() if not list(layer.children())]
    assert [type(layer).__name__ for layer in layers] == [
        *("Conv2d", "ReLU", "Conv2d", "ReLU", "MaxPool2d", "Flatten"),
        *("Dropout", "Linear", "ReLU", "Dropout", "Linear"),
    ]
    assert [layer.p for layer in layers if isinstance(layer, Dropout)] == [0.25, 0.5]
    assert parameters(network) == (16 * 32 + 32) + (32 * 32 * 16 + 32) + (11 * 11 * 32 * 128 + 128) + (128 * 10 + 10)


@pytest.mark.parametrize("name", ["cnn", "resnet20"])
@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 17, 12), (4, 9, 20)])
def test_any_image_shape_and_number_of_classes(name, shape):
    network = build(name, shape, 7).eval()
    x = torch.randn(5, *shape)
    logits = network(x)
    assert logits.shape == (5, 7)
    torch.testing.assert_close(network.head(network.features(x)), logits)
    torch.testing.assert_close(network.finish(network.trunk(x)), logits)


def test_images_too_small_for_the_cnn_are_refused():
    with pytest.raises(ValueError, match="8 × 8"):
        build("cnn", (1, 7, 9), 2)
    with pytest.raises(ValueError, match="resnet20"):
        build("vgg", (1, 8, 8), 2)


def test_shortcut_without_convolutions_skips_pixels_and_pads_channels():
    network = ResNet20((3, 8, 8), 2).eval()
    block = network.blocks[3]
    torch.nn.init.zeros_(block.second[0].weight)
    x = torch.rand(2, 16, 8, 8)
    expected = torch.zeros(2, 32, 4, 4)
    expected[:, 8:24] = x[:, :, ::2, ::2]
    torch.testing.assert_close(block(x), expected)


def test_dropout_zeroes_a_share_and_keeps_the_mean():
    layer = Dropout(0.25)
    layer.generator = torch.Generator().manual_seed(0)
    out = layer(torch.ones(200, 500))
    assert out.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert (out == 0).float().mean() == pytest.approx(0.25, abs=0.01)
    assert out.mean() == pytest.approx(1, abs=0.01)


def test_dropout_follows_its_generator_and_not_the_global_state():
    network = build("cnn", (1, 8, 8), 3)
    x = torch.randn(4, 1, 8, 8)
    use_generator(network, torch.Generator().manual_seed(3))
    before = torch.random.get_rng_state()
    first, second = network(x), network(x)
    assert torch.equal(before, torch.random.get_rng_state())
    assert not torch.equal(first, second)
    use_generator(network, torch.Generator().manual_seed(3))
    assert torch.equal(network(x), first)


def test_dropping_turns_on_dropout_alone_and_off_again():
    network = build("resnet20", (3, 8, 8), 3).eval()
    x = torch.randn(4, 3, 8, 8)
    calm, statistics = network(x), network.stem[1].running_mean.clone()
    with dropping(network, torch.Generator().manual_seed(0)):
        assert not torch.equal(network(x), calm)
    assert torch.equal(network.stem[1].running_mean, statistics)
    assert torch.equal(network(x), calm)
