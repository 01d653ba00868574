"""What PyTorch makes and takes, for onnx_test.sh. Runs with the system's Python (scripts/python torch).

  onnx_torch.py make              data/, the networks as ONNX, torchvision's weights as .npz
  onnx_torch.py load NAME NPZ OUT  torchvision's network NAME with these weights: its scores of the test samples
"""
import sys

import numpy
import torch
import torchvision

CLASSES, SIDE = 5, 64


class Branching(torch.nn.Module):
    """Branches that are joined and added, pooling of every kind, a view: what people write."""

    def __init__(self):
        super().__init__()
        n = torch.nn
        self.stem = n.Sequential(n.Conv2d(3, 16, 3, stride=2, padding=1, bias=False), n.BatchNorm2d(16), n.ReLU6())
        self.left = n.Sequential(n.Conv2d(16, 16, 3, padding=1), n.ReLU())
        self.right = n.Sequential(n.Conv2d(16, 8, 1), n.BatchNorm2d(8), n.ReLU(), n.Conv2d(8, 16, (1, 5), padding=(0, 2), groups=8))
        self.pool = n.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)
        self.shrink = n.MaxPool2d(3, stride=2, ceil_mode=True)
        self.narrow = n.Conv2d(48, 24, 3, padding=2, dilation=2)
        self.head = n.Sequential(n.Dropout(0.1), n.Linear(24 * 4 * 4, 32), n.ReLU(), n.Linear(32, CLASSES))

    def forward(self, x):
        x = self.stem(x)
        left = self.left(x)
        x = torch.cat([left, self.right(x) + left, self.pool(x)], 1)
        x = torch.nn.functional.avg_pool2d(torch.relu(self.narrow(self.shrink(x))), 4)
        return self.head(x.view(x.size(0), -1))


def randomise_norms(network):
    """Running statistics and scales as a trained network has them, not ones and zeros."""
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, std=0.2)
            torch.nn.init.normal_(module.running_mean, std=0.2)
            torch.nn.init.uniform_(module.running_var, 0.5, 2)
    return network.eval()


def torchvision_network(name):
    make = {"resnet18": torchvision.models.resnet18, "mobilenet-v2": torchvision.models.mobilenet_v2}[name]
    return make(weights=None, num_classes=CLASSES)


def export(network, file, fold):
    training = torch.onnx.TrainingMode.EVAL if fold else torch.onnx.TrainingMode.PRESERVE
    torch.onnx.export(network, torch.zeros(2, 3, SIDE, SIDE), file, opset_version=13, input_names=["input"],
                      dynamic_axes={"input": {0: "batch"}}, training=training, do_constant_folding=fold)


def make():
    rng = numpy.random.default_rng(3)
    numpy.random.seed(3)
    torch.manual_seed(3)
    for suffix, count in (("", 72), ("_test", 12)):
        labels = numpy.arange(count) % CLASSES
        images = rng.normal(size=(count, 3, SIDE, SIDE)).astype(numpy.float32) * 2 + labels[:, None, None, None] / 2
        numpy.save(f"data/X{suffix}.npy", images.astype(numpy.float32))
        numpy.save(f"data/y{suffix}.npy", labels.astype(numpy.int64))
    for name in ("resnet18", "mobilenet-v2"):
        network = randomise_norms(torchvision_network(name))
        export(network, f"{name}.onnx", fold=False)
        export(network, f"{name}-folded.onnx", fold=True)
        numpy.savez(f"{name}-torch.npz", **{key: value.numpy() for key, value in network.state_dict().items()})
    network = randomise_norms(Branching())
    export(network, "branching.onnx", fold=False)
    export(torch.nn.Sequential(network, torch.nn.Softmax(dim=1)), "softmax.onnx", fold=False)


def load(name, weights, out):
    network = torchvision_network(name).eval()
    network.load_state_dict({key: torch.from_numpy(value) for key, value in numpy.load(weights).items()}, strict=True)
    with torch.no_grad():
        numpy.save(out, network(torch.from_numpy(numpy.load("normalised.npy"))).numpy())


if __name__ == "__main__":
    {"make": make, "load": load}[sys.argv[1]](*sys.argv[2:])
