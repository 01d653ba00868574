"""The small CNN of `tributary model show cnn --input 1x28x28`: two 3x3 convolutions, two linear layers."""

import torch
from torch import nn


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))  # fmt: skip


def train(net, steps, batch, seed):
    """SGD with momentum on random images: the work of a step does not depend on what is in them."""
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    criterion = nn.CrossEntropyLoss()
    for _ in range(steps):
        images = torch.randn(batch, 1, 28, 28, generator=generator)
        labels = torch.randint(0, 10, (batch,), generator=generator)
        optimiser.zero_grad()
        criterion(net(images), labels).backward()
        optimiser.step()
