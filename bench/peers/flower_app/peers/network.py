"""The same network as `tributary models cnn`: two 3x3 convolutions and two linear layers, for 3x32x32 images."""

import torch
from torch import nn


def cnn():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 8 * 8, 128), nn.ReLU(), nn.Linear(128, 10))  # fmt: skip


def train(net, steps, batch, seed):
    """SGD with momentum on random images: the work of a step does not depend on what is in them."""
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    criterion = nn.CrossEntropyLoss()
    for _ in range(steps):
        images = torch.randn(batch, 3, 32, 32, generator=generator)
        labels = torch.randint(0, 10, (batch,), generator=generator)
        optimiser.zero_grad()
        criterion(net(images), labels).backward()
        optimiser.step()
