# A device with a key that sends one header without end (quadratic time in gRPC 1.51): it is broken off early and refused for a
# minute, the others take part.
. "$(dirname "$0")/fleet_lib.sh"

attack() { python3 "$(dirname "$0")/hostile_client.py" headers "$port" keys/devices/pi-9 "${MEGABYTES:-36}"; }
processor_seconds() { awk -v ticks="$(getconf CLK_TCK)" '{ print ($14 + $15) / ticks }' "/proc/${process_of[coordinator]}/stat"; }

write_experiment federated 3 sequential
sed -i 's/^quorum = 1.0/quorum = 2/' tiny.toml
make_keys pi-1 pi-2 pi-9
start_coordinator coordinator ./tiny.toml --out run --wait-for 2
await_port coordinator
start=$(processor_seconds)
attack >attack.txt
taken=$(awk -v begin="$start" -v end="$(processor_seconds)" 'BEGIN { print end - begin }')
echo "$(cat attack.txt) bytes of a header; $taken s of the coordinator's processor time"
read -r word sent <attack.txt
[ "$word" = sent ] || fail "the attack did not begin: $(cat attack.txt)"
await coordinator "broke off a connection from 127.0.0.1: [0-9]+ bytes came that belong to no message; 'pi-9' is refused"
[ "$sent" -lt 30000000 ] || fail "the whole header was taken: $sent bytes"
[ "$(attack)" = refused ] || fail "the device is let in again at once"

for name in pi-1 pi-2; do start_device "$name" --leave-when-done; done
expect_end 0 coordinator
expect_all_applied run 3 2
for name in pi-1 pi-2; do expect_end 0 "$name"; done
grep -q "'pi-9' that belong to no message" run/audit.jsonl || fail "the refusal is not in the audit log: $(cat run/audit.jsonl)"
