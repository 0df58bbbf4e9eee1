"""
Texts
=====

Texts become vectors first, here by TF-IDF. The texts are sentences of scikit-learn's own documentation, and the class
of a sentence is the module that it describes.
"""

import importlib
import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

import mheal

texts, modules = [], []
for module in ("cluster", "linear_model", "metrics", "preprocessing"):
    public = importlib.import_module(f"sklearn.{module}")
    for name in public.__all__:
        described = (inspect.getdoc(getattr(public, name)) or "").split("\nParameters\n")[0]
        described = re.sub(r":\w+:`~?([^`]*)`", r"\1", described).replace("``", "")  # without markup
        for sentence in re.split(r"(?<=[.])\s+", " ".join(described.split())):
            if 50 < len(sentence) < 300 and sentence not in texts and not sentence.startswith("Read more"):
                texts.append(sentence)
                modules.append(module)
y = np.array(modules)
print(f"{len(texts)} sentences, for example: {texts[0]}")

# %%
# Their vectors have unit length. Pick from them as from any array. The method ``"minilm"`` gives
# features of a pretrained network instead, which is installed with ``mheal[text]``.

embedding = mheal.embed.embed(texts, kind="texts", method="tfidf")
picks = mheal.select(embedding.X, 60)
print(embedding.description)
for row in picks[:5]:
    print(f"- {y[row]}: {texts[row]}")

# %%
# Does it beat random here?

curves = mheal.evaluate.simulate(embedding.X, y, ["mheal", "random"], [20, 40, 80], seeds=10)
print(curves.verdict())

flat = PCA(2, random_state=0).fit_transform(embedding.X)
figure, axis = plt.subplots(figsize=(6.5, 5), layout="constrained")
for module in sorted(set(modules)):
    axis.scatter(*flat[y == module].T, s=8, alpha=0.4, label=module)
axis.scatter(*flat[picks].T, s=45, facecolors="none", edgecolors="black", label="picks")
axis.set(xticks=[], yticks=[], title="Sentences in two principal components")
axis.legend()
plt.show()
