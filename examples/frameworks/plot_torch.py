"""
Train a network with PyTorch
============================

Binary cross-entropy adds up what each label loses by itself. What if all
labels of a row should be right? :class:`choral.nn.ChoquetLoss` takes the same
losses of labels and puts them together by a measure;
:class:`choral.nn.DependenceCurve` judges the network, batch by batch. This
example needs ``choral[torch,plot]``.
"""

# %%
# The network has one hidden layer. With ``k = 1`` the loss is binary
# cross-entropy; with a larger k the worst labels of a row weigh more.
import matplotlib.pyplot as plt
import torch
from torch.utils.data import DataLoader, TensorDataset

import choral
from choral.displays import LossCurveDisplay
from choral.nn import ChoquetLoss, DependenceCurve

digits = choral.datasets.load_digits_segments()
rows = TensorDataset(
    torch.tensor(digits.X / 16, dtype=torch.float32), torch.tensor(digits.Y)
)
training = torch.utils.data.Subset(rows, range(600))
validation = DataLoader(
    torch.utils.data.Subset(rows, range(600, len(rows))), batch_size=200
)


def train(k, n_epochs=30):
    """Return the metric of the last epoch, and the losses after each."""
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 7)
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    loss, metric, history = (
        ChoquetLoss(choral.BinomialMeasure(k)),
        DependenceCurve(num_labels=7, logits=True),
        [],
    )
    for _ in range(n_epochs):
        for features, labels in DataLoader(
            training, batch_size=50, shuffle=True
        ):
            optimizer.zero_grad()
            loss(network(features), labels).backward()
            optimizer.step()
        metric.reset()
        with torch.no_grad():
            for features, labels in validation:
                metric.update(network(features), labels)
        history.append(metric.scalars())
    return metric, history


# %%
# ``scalars`` gives what a logger wants, by name.
trained = {f"trained with k={k}": train(k) for k in (1, 3)}
for name, (_, history) in trained.items():
    print(name, {key: round(value, 3) for key, value in history[-1].items()})

# %%
# Left: subset 0/1 loss on validation rows while training. Right: the whole
# curves in the end.
_, axes = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained")
for name, (_, history) in trained.items():
    axes[0].plot(
        range(1, len(history) + 1),
        [epoch["loss/subset"] for epoch in history],
        label=name,
    )
axes[0].set(xlabel="epoch", ylabel="subset 0/1 loss, validation rows")
axes[0].spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)
LossCurveDisplay.from_curves(
    {name: metric.curve() for name, (metric, _) in trained.items()}
).plot(axes[1])

# %%
# Here the network that was trained with k = 3 is better in the end. That is
# one seed on one data set: :doc:`/networks` measures on thirteen data sets
# which loss to train with, and what to do instead. Read next: :doc:`/pytorch`
# has the recipe for Lightning.
