# A pair of a decision and a method that no other test has, for each method, by real devices over mutual TLS: three rounds
# come to the very weights of the simulated run.
. "$(dirname "$0")/fleet_lib.sh"

devices="pi-1 pi-2 pi-3"
"$TRIBUTARY" compatibility --json >pairs.json

# write_pair METHOD SETTING: pair.toml, and what the pair of the method and the decision with this setting adds to it.
write_pair() {
  python3 - "$1" "$2" <<'PYTHON' || fail "no allowed pair of $1 and $2"
import json, sys
method, setting = sys.argv[1:]
pairs = json.load(open("pairs.json"))
found = [d["methods"][method] for d in pairs["decisions"] if d["settings"][0] == setting]
assert len(found) == 1 and found[0]["allowed"], found
open("pair.toml", "w").write(pairs["experiment"])
open("settings.txt", "w").write("".join(s + "\n" for s in found[0]["settings"]))
PYTHON
  local line
  settings=(--set fleet.group.all.count=3 --set fleet.quorum=1.0)
  while read -r line; do settings+=(--set "$line"); done <settings.txt
}

make_keys $devices
while read -r method setting; do
  write_pair "$method" "$setting"
  "$TRIBUTARY" run ./pair.toml "${settings[@]}" --out "simulated-$method" --quiet >/dev/null
  port=
  start_coordinator "coordinator-$method" ./pair.toml "${settings[@]}" --out "real-$method"
  await_port "coordinator-$method"
  for name in $devices; do
    start_device "$name" --leave-when-done --allow activations,labels,label-counts --advertise 127.0.0.1:0
  done
  expect_end 0 "coordinator-$method"
  for name in $devices; do expect_end 0 "$name"; done
  expect_same "simulated-$method" "real-$method"
  expect_log "real-$method" 3
  echo "$method with $setting: the same weights"
done <<'PAIRS'
sync-sgd dropout.method=small
federated train.prox=1.0
split sampling.method=fpls
splitfed-v1 compression.kind=adaptive-top-k
splitfed-v2 train.server-optimiser=yogi
d-psgd data.split={kind="submodular", features="pixels"}
matcha train.optimiser=adam
PAIRS
