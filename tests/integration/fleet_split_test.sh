# Split learning by four real devices over mutual TLS comes to the very weights of the simulated run: with batch norms in
# the coordinator's part, where a step waits for all, and without; with the last layers on devices; with fronts that are
# averaged after some steps (SplitFed); when one is killed in the middle; and devices whose owners have not agreed are not part of it.
. "$(dirname "$0")/fleet_lib.sh"

devices="pi-1 pi-2 pi-3 pi-4"
allowed=(--allow activations,labels)

# write_split MODEL CUT [LINE…]: split.toml, with more lines for [split].
write_split() {
  local model=$1 cut=$2
  shift 2
  cat >split.toml <<EOF
schema = 1
[experiment]
name = "split"
rounds = 20
evaluate-every = 10
[model]
name = "$model"
[data]
set = "glyphs"
split = { kind = "extended-dirichlet", alpha = 3, classes-per-device = 5 }
train-limit = 160
test-limit = 20
[fleet]
quorum = 1.0
[[fleet.group]]
name = "all"
count = 4
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "split"
batch = 16
learning-rate = 0.05
momentum = 0.9
[split]
cut = "$cut"
$(printf '%s\n' "$@")
EOF
}

# simulate FOLDER ARGUMENT…
simulate() { "$TRIBUTARY" run ./split.toml --out "$@" --quiet >/dev/null; }

# begin FOLDER ARGUMENT…: the coordinator and all devices.
begin() {
  local folder=$1 name
  shift
  port=
  start_coordinator "coordinator-$folder" ./split.toml --out "$folder" "$@"
  await_port "coordinator-$folder"
  for name in $devices; do start_device "$name" --leave-when-done "${allowed[@]}"; done
}
finish() {
  local name
  expect_end 0 "coordinator-$1"
  for name in $devices; do expect_end 0 "$name"; done
}

make_keys $devices
write_split resnet8 layer1.0.relu
simulate simulated
begin real
finish real
expect_same simulated real
expect_log real 20
# Epochs of ten steps over 160 samples: every sample once in each.
samples=$(grep '"type":"device-finished"' real/events.jsonl | sed 's/.*"samples":\([0-9]*\).*/\1/' | paste -sd+ | bc)
[ "$samples" -eq 320 ] || fail "$samples samples in two epochs of 160"

# However it is cut, compressed and planned.
write_split cnn pool1 'activations = "fp16"' 'gradients = "int8"'
for strategy in sequential optimal; do
  simulate "alone-$strategy" --set transfers.strategy=$strategy
  begin "real-alone-$strategy" --set transfers.strategy=$strategy
  finish "real-alone-$strategy"
  expect_same "alone-$strategy" "real-alone-$strategy"
done
# With the labels, and the layers that see them, at home.
write_split resnet8 conv1 'tail = "layer3.0.relu"'
simulate tail
allowed=(--allow activations)
begin real-tail
finish real-tail
expect_same tail real-tail
allowed=(--allow activations,labels)

# One is killed and comes back, again and again: the same weights, since nothing of a step counts twice.
write_split resnet8 layer1.0.relu
begin killed --grace 60s
for round in 3 7 12; do
  await coordinator-killed "^round $round/"
  end pi-2 KILL
  start_device pi-2 --leave-when-done "${allowed[@]}"
done
finish killed
expect_same simulated killed

# In rounds of steps after which fronts are averaged: with a rest for each device, and one that learns from them in turn. One
# is killed in a round, and does its steps again.
for variant in splitfed-v1 splitfed-v2; do
  write_split resnet8 layer1.0.relu "variant = \"$variant\""
  fed=(--set train.local-steps=3 --set train.batch=6 --set experiment.rounds=5)  # The last of an epoch has 4 of 40 samples.
  simulate "$variant" "${fed[@]}"
  begin "real-$variant" "${fed[@]}" --grace 60s
  await "coordinator-real-$variant" '^round 2/'
  end pi-3 KILL
  start_device pi-3 --leave-when-done "${allowed[@]}"
  finish "real-$variant"
  expect_same "$variant" "real-$variant"
  expect_log "real-$variant" 5
done

# Where it need not be waited for, the step goes on without it, and it comes back to the weights of the day.
write_split resnet8 layer1.0.relu
begin without --set fleet.quorum=3 --set experiment.rounds=400 --grace 100ms  # Long enough for a process to start.
within "$patience" "the first rounds" has_rounds without 3
end pi-2 KILL
before=$(rounds_in without)
within "$patience" "rounds without pi-2" has_rounds without $((before + 6))
start_device pi-2 --leave-when-done "${allowed[@]}"
finish without
expect_log without 400
# Read to the end: whoever writes to a reader that has gone has failed.
grep '"type":"device-finished"' without/events.jsonl | grep '"outcome":"\(lost\|crashed\)"' >/dev/null || fail "nobody was missed"
grep '"type":"round-finished"' without/events.jsonl | tail -n 5 | grep '"applied":4' >/dev/null || fail "pi-2 has not come back"

# The coordinator is killed: it goes on in the middle of the epoch.
begin resumed --checkpoint-every 0s
await coordinator-resumed '^round 6/'
end coordinator-resumed KILL
start_coordinator coordinator-again --resume resumed
expect_end 0 coordinator-again
for name in $devices; do expect_end 0 "$name"; done
cmp simulated/weights.safetensors resumed/weights.safetensors || fail "the resumed run has other weights"

# Without their owners' consent nobody takes part.
for missing in activations labels; do
  port=
  start_coordinator "refused-$missing" ./split.toml --out "refused-$missing"
  await_port "refused-$missing"
  given=labels
  [ "$missing" = activations ] || given=activations
  start_device pi-1 --allow "$given"
  await pi-1 "takes $missing from devices, which this device does not allow.*--allow $missing"
  end pi-1 TERM
  end "refused-$missing" TERM
done
# What lds plans with, owners are asked for too.
port=
start_coordinator counts ./split.toml --set sampling.method=lds --out counts
await_port counts
start_device pi-3 "${allowed[@]}"
await pi-3 'takes label-counts from devices, which this device does not allow.*--allow label-counts'
