# A device whose owner allows nothing meets coordinators that say they need nothing and then ask for samples, for training on
# others' samples, and for the device's own model; and experiments whose method takes samples, activations and labels. It
# refuses each, goes on, and sends nothing.
. "$(dirname "$0")/fleet_lib.sh"

[ -x "$HOSTILE_COORDINATOR" ] || skip "built without gRPC"

# meet NAME LAYOUT: a hostile coordinator with NAME.toml, and a device.
meet() {
  start "$1" "$HOSTILE_COORDINATOR" "$1.toml" "$2"
  await_port "$1"
  start "$1-device" "$TRIBUTARY" device --insecure --name pi-1 --join "$host:$port" --threads 1 --longest-wait 300ms
}
part() {
  end "$1-device" TERM
  end "$1" KILL
}

write_experiment sync-sgd 3
mv tiny.toml plain.toml
sed 's/"dirichlet", alpha = 0.5/"iid"/' plain.toml >injection.toml
printf '[injection]\ndevices = 0.5\nshare = 0.5\n' >>injection.toml
cat >split.toml <<'EOF'
schema = 1
[experiment]
name = "cut"
rounds = 3
[model]
name = "cnn"
[data]
set = "glyphs"
train-limit = 120
[fleet]
[[fleet.group]]
name = "all"
count = 4
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "split"
batch = 8
[split]
server-compute = "1G"
cut = "pool1"
EOF

# The layout, which both sides must agree on, is in what the device says to a wrong one.
cp plain.toml probe.toml
meet probe unknown
await probe-device '\([0-9a-f]+ instead of unknown\)'
layout=$(sed -n 's/.*(\([0-9a-f]*\) instead of unknown).*/\1/p' probe-device.log | head -1)
part probe
meet plain "$layout"
for reason in "refusal the experiment's devices share no samples" "refusal the experiment's devices share no samples" \
  'refusal the devices of this experiment do not have their own models'; do await plain "^$reason"; done
alive plain-device || fail "the device has ended: $(tail -n 3 plain-device.log)"
[ "$(grep -c '^refusal' plain.log)" -eq 3 ] || fail "expected three refusals: $(cat plain.log)"
part plain

for name in injection split; do
  meet "$name" "$layout"
  await "$name-device" "start it with --allow $([ $name = split ] && echo activations || echo samples) if its owner agrees"
  part "$name"
done
grep -h '^data' ./*.log && fail "data has left the device"
grep -h 'ready' injection.log split.log && fail "the device takes part in an experiment that its owner has not agreed to"
true
