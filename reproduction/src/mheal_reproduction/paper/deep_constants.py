"""Constants of `mheal_reproduction.networks` that rows and features depend on, read where they are."""

from importlib import import_module
from typing import Any

NAMES = {
    "dec": ("WIDTHS", "BATCH", "LENGTH", "GAMMA", "PRETRAINING", "TRAINING", "EPOCHS", "STEPS", "INTERVAL"),
    "augment": ("SHIFT", "ANGLE"),
    "clustering": ("STARTS", "MAX_ITER"),
    "simclr": ("WIDTH", "BLOCKS", "PROJECTION", "TEMPERATURE", "BATCH", "RATE", "DECAY", "WARM_UP"),
    "views": ("SMALLEST_COLOUR", "RATIO", "JITTER", "HUE", "RECOLOURED", "GREY"),
    "vaal": ("CHANNELS", "CODE", "BATCH", "RATE", "VAE_STEPS"),
}
CLUSTERING = ("dec", "augment", "clustering")
CENTER = False  # as we read the paper; what `DeepClustering` does by default came after the rows, see results/dec


def constants_of(*modules: str) -> dict[str, dict[str, Any]]:
    """Their values, by module and name; needs torch."""
    found = {module: import_module(f"mheal_reproduction.networks.{module}") for module in modules}
    return {module: {name: getattr(values, name) for name in NAMES[module]} for module, values in found.items()}
