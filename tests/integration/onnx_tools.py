"""What the ONNX and safetensors libraries say, for onnx_test.sh. Runs with scripts/python run.

  onnx_tools.py normalise                  normalised.npy: the test samples as networks here see them
  onnx_tools.py compare ONNX SCORES [JSON] ONNX Runtime's scores of them are these, and its loss and accuracy those
  onnx_tools.py same SCORES SCORES         two files of scores agree
  onnx_tools.py keras                      keras.onnx: a network as tf2onnx writes one of Keras, channels last
  onnx_tools.py to-safetensors NPZ OUT     by the real library; from-safetensors FILE NPZ likewise
"""
import json
import sys

import numpy
import onnx
import onnxruntime
import safetensors.numpy

TOLERANCE = 1e-4


def normalise():
    train = numpy.load("data/X.npy").astype(numpy.float64)
    mean, deviation = train.mean(axis=(0, 2, 3)), train.std(axis=(0, 2, 3))
    test = numpy.load("data/X_test.npy").astype(numpy.float64)
    numpy.save("normalised.npy", ((test - mean[:, None, None]) / deviation[:, None, None]).astype(numpy.float32))


def agree(a, b, what):
    assert a.shape == b.shape, f"{what}: {a.shape} and {b.shape}"
    difference = numpy.abs(a - b).max()
    print(f"{what}: largest difference {difference:.2e} of scores up to {numpy.abs(b).max():.2f}")
    assert difference <= TOLERANCE, what
    assert numpy.abs(b).max() > 0.01, f"{what}: scores that are all zero prove nothing"


def log_softmax(scores):
    shifted = scores.astype(numpy.float64) - scores.max(axis=1, keepdims=True)
    return shifted - numpy.log(numpy.exp(shifted).sum(axis=1, keepdims=True))


def compare(network, scores, report=None):
    model = onnx.load(network)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(network)
    samples = numpy.load("normalised.npy")
    entry = session.get_inputs()[0]
    if entry.shape[-1] == 3:  # channels last
        samples = numpy.ascontiguousarray(samples.transpose(0, 2, 3, 1))
    theirs = session.run(None, {entry.name: samples})[0]
    ours = numpy.load(scores)
    if model.graph.node[-1].op_type == "Softmax":
        ours = numpy.exp(log_softmax(ours)).astype(numpy.float32)
    agree(ours, theirs, network)
    if report is None:
        return
    labels = numpy.load("data/y_test.npy")
    said = json.load(open(report))
    loss = -log_softmax(theirs)[numpy.arange(len(labels)), labels].mean()
    accuracy = (theirs.argmax(axis=1) == labels).mean()
    assert abs(said["loss"] - loss) <= TOLERANCE and said["accuracy"] == accuracy, f"{said} and {loss}, {accuracy}"
    print(f"{network}: loss {loss:.5f} and accuracy {accuracy:.3f} on both sides")


def same(a, b):
    agree(numpy.load(a), numpy.load(b), f"{a} and {b}")


def keras():
    rng = numpy.random.default_rng(5)
    make = onnx.helper.make_node

    def weights(name, *shape):
        return onnx.numpy_helper.from_array((rng.normal(size=shape) / 5).astype(numpy.float32), name)

    nodes = [
        make("Transpose", ["x"], ["t"], "in", perm=[0, 3, 1, 2]),
        make("Conv", ["t", "k1"], ["c1"], "model/conv2d/Conv2D", auto_pad="SAME_UPPER", strides=[2, 2], kernel_shape=[3, 3]),
        make("Add", ["c1", "b1"], ["a1"], "model/conv2d/BiasAdd"),
        make("Relu", ["a1"], ["r1"], "model/conv2d/Relu"),
        make("MaxPool", ["r1"], ["p1"], "model/pool", kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1]),
        make("Conv", ["p1", "k2"], ["c2"], "model/depthwise", group=8, pads=[1, 1, 1, 1]),
        make("Clip", ["c2", "zero", "six"], ["r2"], "model/relu6"),
        make("AveragePool", ["r2"], ["p2"], "model/average", kernel_shape=[4, 4], strides=[4, 4]),
        make("Transpose", ["p2"], ["u"], "out", perm=[0, 2, 3, 1]),
        make("Reshape", ["u", "flat"], ["f"], "model/flatten/Reshape"),
        make("MatMul", ["f", "d1"], ["m1"], "model/dense/MatMul"),
        make("Add", ["m1", "e1"], ["n1"], "model/dense/BiasAdd"),
        make("Relu", ["n1"], ["r3"], "model/dense/Relu"),
        make("MatMul", ["r3", "d2"], ["m2"], "model/head/MatMul"),
        make("Add", ["m2", "e2"], ["scores"], "model/head/BiasAdd"),
    ]
    constants = [weights("k1", 8, 3, 3, 3), weights("b1", 1, 8, 1, 1), weights("k2", 16, 1, 3, 3), weights("d1", 256, 20),
                 weights("e1", 20), weights("d2", 20, 5), weights("e2", 5),
                 onnx.numpy_helper.from_array(numpy.array(0, numpy.float32), "zero"),
                 onnx.numpy_helper.from_array(numpy.array(6, numpy.float32), "six"),
                 onnx.numpy_helper.from_array(numpy.array([-1, 256], numpy.int64), "flat")]
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(nodes, "model", [value("x", onnx.TensorProto.FLOAT, ["N", 64, 64, 3])],
                                   [value("scores", onnx.TensorProto.FLOAT, ["N", 5])], constants)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 15)], ir_version=8)
    # Weights in a second file, as large networks and newer exporters have them.
    onnx.save(model, "keras.onnx", save_as_external_data=True, location="keras.onnx.data", size_threshold=64)


def to_safetensors(source, out):
    safetensors.numpy.save_file({key: numpy.ascontiguousarray(value) for key, value in numpy.load(source).items()}, out,
                                metadata={"format": "pt"})


def from_safetensors(source, out):
    numpy.savez(out, **safetensors.numpy.load_file(source))


if __name__ == "__main__":
    {"normalise": normalise, "compare": compare, "same": same, "keras": keras, "to-safetensors": to_safetensors,
     "from-safetensors": from_safetensors}[sys.argv[1]](*sys.argv[2:])
