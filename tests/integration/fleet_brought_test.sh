# A network that was brought reaches real devices: they come to the weights of simulated ones, with all of it trained and with
# layers frozen, whose weights devices must have themselves.
. "$(dirname "$0")/fleet_lib.sh"

"$TRIBUTARY" train --model resnet8 --data glyphs --train-limit 32 --test-limit 10 --epochs 1 --batch 16 --seed 5 --save brought.onnx --quiet >/dev/null
cp brought.onnx copy.onnx
"$TRIBUTARY" train --model resnet8 --data glyphs --train-limit 32 --test-limit 10 --epochs 1 --batch 16 --seed 6 --save other.onnx --quiet >/dev/null
cat >tiny.toml <<'END'
schema = 1
[experiment]
name = "tiny"
rounds = 4
evaluate-every = 4
[model]
onnx = "brought.onnx"
[data]
set = "glyphs"
train-limit = 60
test-limit = 20
[fleet]
quorum = 1.0
[[fleet.group]]
name = "all"
count = 2
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "sync-sgd"
batch = 4
learning-rate = 0.05
[transfers]
strategy = "optimal"
END

# run_real FOLDER DEVICE-ARGUMENT… [-- COORDINATOR-ARGUMENT…]
run_real() {
  local folder=$1 device=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do device+=("$1"); shift; done
  [ $# -eq 0 ] || shift
  port=
  start_coordinator "coordinator-$folder" ./tiny.toml --out "$folder" "$@"
  await_port "coordinator-$folder"
  for name in pi-1 pi-2; do start_device $name --leave-when-done "${device[@]}"; done
  expect_end 0 "coordinator-$folder"
  for name in pi-1 pi-2; do expect_end 0 $name; done
}

make_keys pi-1 pi-2 pi-3
"$TRIBUTARY" run ./tiny.toml --out simulated --quiet >/dev/null
run_real real
expect_same simulated real
expect_all_applied real 4 2

# Frozen: the device's own copy of the file is what it has of them.
frozen=(--set 'model.freeze=["conv1", "layer1"]' --set train.method=federated --set train.local-steps=2)
"$TRIBUTARY" run ./tiny.toml --out simulated-frozen --quiet "${frozen[@]}" >/dev/null
run_real real-frozen --weights copy.onnx -- "${frozen[@]}"
expect_same simulated-frozen real-frozen
expect_all_applied real-frozen 4 2
"$TRIBUTARY" models export real-frozen/weights.safetensors frozen.onnx >/dev/null
"$TRIBUTARY" models import frozen.onnx >/dev/null

# A device without the file, or with another one, is told so and has no part.
port=
start_coordinator coordinator-refusing ./tiny.toml --out refused "${frozen[@]}"
await_port coordinator-refusing
start_device pi-3 --once
await pi-3 "the experiment freezes layers at the weights of 'brought.onnx', which are not sent; give this device's copy of the file with --weights"
end pi-3 KILL
start_device pi-2 --once --weights other.onnx
await pi-2 'lays the network out in another way .* give the same --weights'
end pi-2 KILL
end coordinator-refusing KILL

# Killed and resumed, it takes the network out of the run's own experiment, and what is frozen out of the file.
long=("${frozen[@]}" --set experiment.rounds=12)
"$TRIBUTARY" run ./tiny.toml --out simulated-long --quiet "${long[@]}" >/dev/null
port=
start_coordinator coordinator-killed ./tiny.toml --out killed --checkpoint-every 0s "${long[@]}"
await_port coordinator-killed
for name in pi-1 pi-2; do start_device $name --leave-when-done --weights copy.onnx; done
within $patience "two rounds" has_rounds killed 2
end coordinator-killed KILL
start_coordinator coordinator-resumed --resume killed --checkpoint-every 0s
expect_end 0 coordinator-resumed
for name in pi-1 pi-2; do expect_end 0 $name; done
expect_same simulated-long killed
expect_log killed 12
