# A device with absurd data, whose gradients ruin the model where nothing clips them: the run goes back to its last sound
# weights, continues without that device and ends well, with the four honest devices.
. "$(dirname "$0")/fleet_lib.sh"

cat >diverge.toml <<END
schema = 1
[experiment]
name = "diverge"
rounds = 20
[model]
name = "mlp"
[data]
set = "glyphs"
train-limit = 400
test-limit = 50
[fleet]
quorum = 1.0
[[fleet.group]]
name = "all"
count = 4
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "sync-sgd"
batch = 16
learning-rate = 0.02
[trust]
clip = 0
END
make_keys pi-1 pi-2 pi-3 pi-4 rogue
start_coordinator coordinator ./diverge.toml --out run --wait-for 5
await_port coordinator
for name in pi-1 pi-2 pi-3 pi-4; do start_device "$name" --leave-when-done; done
for name in pi-1 pi-2 pi-3 pi-4; do await "$name" 'joined as device'; done  # So the fifth has the number 4.
mkdir huge
python3 - <<'END'
import struct
with open("huge/X.npy", "wb") as out:
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (40, 3, 32, 32), }"
    out.write(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117).encode() + b"\n")
    out.write(struct.pack("<f", 1e5) * (40 * 3072))
END
{ npy '|u1' '40,'; for i in {1..20}; do bytes 00 01; done; } >huge/y.npy
start_device rogue --data huge
expect_end 0 coordinator
for name in pi-1 pi-2 pi-3 pi-4; do expect_end 0 "$name"; done

[ "$(grep -c '"type":"rolled-back"' run/events.jsonl)" -eq 1 ] || fail "not rolled back once: $(tail -n 20 coordinator.log)"
grep '"type":"quarantined"' run/events.jsonl | sed 's/.*"device":\([0-9]*\).*/\1/' >quarantined.txt
[ "$(cat quarantined.txt)" = 4 ] || fail "in quarantine, not the fifth device alone: $(cat quarantined.txt)"
says rogue "'rogue' is in quarantine" || fail "the device was not told: $(tail -n 3 rogue.log)"
grep -q '"event":"quarantined","device":"rogue"' run/audit.jsonl || fail "not in the audit log"
for device in 0 1 2 3; do
  applied=$(grep "\"device\":$device,\"outcome\":\"applied\"" run/events.jsonl | wc -l)
  [ "$applied" -ge 17 ] || fail "device $device was applied in $applied of 20 rounds"
done
python3 - <<'END' || fail "the model is ruined: $(tail -n 1 run/rounds.csv)"
import json, sys
summary = json.load(open("run/summary.json"))
last = open("run/rounds.csv").read().split()[-1].split(",")
sys.exit(not (summary["quarantined"] == [4] and summary["rolled_back"] == 1 and float(last[-1]) < 3))
END
grep -q 'the run diverged; returns to earlier weights: 1; devices in quarantine: 4' coordinator.log || fail "no line in the summary"
end rogue TERM
