# Networks of PyTorch, torchvision and Keras, imported, trained, exported and used again, judged by ONNX Runtime, PyTorch and the
# safetensors library themselves.
. "$(dirname "$0")/lib.sh"

here=$SOURCE/tests/integration
"$SOURCE/scripts/python" fetch || skip "onnx (without Python's tools; see above)"
"$SOURCE/scripts/python" torch -c 'import torch, torchvision' 2>/dev/null || skip "onnx (there is no PyTorch; scripts/setup python)"
tools() { "$SOURCE/scripts/python" run "$here/onnx_tools.py" "$@" || fail "onnx_tools.py $*"; }
pytorch() { "$SOURCE/scripts/python" torch -W ignore "$here/onnx_torch.py" "$@" >torch.txt 2>&1 || fail "onnx_torch.py $*: $(cat torch.txt)"; }
# evaluate FILE ARGUMENT…: writes scores.npy and report.json.
evaluate() { "$TRIBUTARY" evaluate "$@" --data ./data --scores scores.npy --json --quiet --threads 2 >report.json || fail "evaluate $*"; }

mkdir data
pytorch make
tools normalise
tools keras

# What is imported computes what it was exported as.
for network in resnet18 resnet18-folded mobilenet-v2 mobilenet-v2-folded branching softmax keras; do
  "$TRIBUTARY" models import $network.onnx --json >import.json
  grep -q "\"name\": \"$network\"" import.json || fail "models import $network: $(head -n 3 import.json)"
  evaluate $network.onnx
  tools compare $network.onnx scores.npy
done
# With the names that torchvision gives.
expect_output '^layer4.1.bn2 +batch-norm +512x2x2 +1,024' models import resnet18.onnx
expect_output '^layer1.0.add +add +64x16x16 ' models import resnet18.onnx
expect_output '^features.18.2 +relu6 +1280x2x2' models import mobilenet-v2.onnx
expect_output '^note: the Softmax at the end is left out' models import softmax.onnx

# Trained for one step and exported again, ONNX Runtime comes to the same scores, loss and accuracy.
for network in resnet18 mobilenet-v2 branching keras; do
  "$TRIBUTARY" train --model $network.onnx --data ./data --train-limit 24 --epochs 1 --batch 24 --lr 0.02 --augment none --save trained.onnx --quiet >/dev/null
  evaluate $network.onnx
  cp scores.npy before.npy
  evaluate trained.onnx
  cmp -s before.npy scores.npy && fail "a step of training has not changed $network"
  tools compare trained.onnx scores.npy report.json
  # As a file of weights it is the same network.
  "$TRIBUTARY" models import trained.onnx --save again.safetensors >/dev/null
  cp scores.npy before.npy
  evaluate again.safetensors
  cmp before.npy scores.npy || fail "$network is another one as safetensors"
  "$TRIBUTARY" models export again.safetensors again.onnx >/dev/null
  evaluate again.onnx
  cmp before.npy scores.npy || fail "$network is another one after its export"
done

# The built-in networks have PyTorch's names: torchvision loads what is trained here, and what it saves is read here.
for network in resnet18 mobilenet-v2; do
  "$TRIBUTARY" train --model $network --stem imagenet --data ./data --train-limit 24 --epochs 1 --batch 24 --lr 0.02 --save ours.safetensors --quiet >/dev/null
  evaluate ours.safetensors
  tools from-safetensors ours.safetensors ours.npz
  pytorch load $network ours.npz theirs.npy
  tools same scores.npy theirs.npy
  tools to-safetensors $network-torch.npz torch.safetensors
  evaluate torch.safetensors --model $network --stem imagenet
  tools compare $network.onnx scores.npy
  "$TRIBUTARY" models export ours.safetensors ours.onnx >/dev/null
  evaluate ours.safetensors
  tools compare ours.onnx scores.npy report.json
done

# Fine-tuning in an experiment: a network with branches under every mechanism.
cat >tune.toml <<'END'
schema = 1
[experiment]
name = "tune"
rounds = 3
[model]
onnx = "branching.onnx"
[data]
set = "./data"
[fleet]
[[fleet.group]]
name = "all"
count = 3
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "sync-sgd"
batch = 4
learning-rate = 0.02
END
run_tuning() {
  local name=$1
  shift
  "$TRIBUTARY" run ./tune.toml --out "$name" --quiet --threads 2 "$@" >/dev/null 2>err.txt || fail "$name: $(cat err.txt)"
  "$TRIBUTARY" models export "$name/weights.safetensors" tuned.onnx >/dev/null
  evaluate "$name/weights.safetensors"
  tools compare tuned.onnx scores.npy report.json
}
federated=(--set train.method=federated --set train.local-steps=2)
run_tuning whole
run_tuning segments --set transfers.strategy=layerwise --set compression.kind=int8
run_tuning federated "${federated[@]}" --set transfers.strategy=optimal
run_tuning cut --set train.method=split --set split.cut=auto --set train.batch=12
run_tuning dropout "${federated[@]}" --set dropout.method=heterofl --set fleet.deadline=100ms
grep -q '"kept": 0\.' dropout/summary.json || fail "all devices have trained the whole network"
run_tuning frozen "${federated[@]}" --set 'model.freeze=["stem", "left"]'
bytes_up() { sed -n 's/.*"bytes_up": \([0-9]*\).*/\1/p' "$1/summary.json" | head -n 1; }
[ "$(bytes_up frozen)" -lt "$(bytes_up federated)" ] || fail "frozen layers were sent"
