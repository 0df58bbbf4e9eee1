"""The error of an adapter whose library is not installed."""

import subprocess
import sys

import pytest

ADAPTERS = {
    "scikit_activeml": ("skactiveml", "pip install scikit-activeml"),
    "imbalanced_learn": ("imblearn", "pip install imbalanced-learn"),
    "small_text": ("small_text", "pip install small-text"),
    "baal": ("baal", "pip install baal"),
    "torch": ("torch", "pip install torch"),
    "hugging_face": ("datasets", "pip install datasets"),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_the_error_names_the_command(name):
    package, command = ADAPTERS[name]
    code = f"""
import sys
sys.modules[{package!r}] = None  # as if it were not installed
try:
    import mheal.adapters.{name}
except ImportError as error:
    print(type(error).__name__, error, sep="; ")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"MissingPackageError; mheal.adapters.{name} needs {command.split()[-1]}: {command}"


def test_adapters_import_no_library_but_their_own():
    names = [package for package, _ in ADAPTERS.values()]
    code = f"import sys, mheal.adapters.modal, mheal.adapters.embedding_atlas; print(*{{*{names}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
