# What an operator can change of a run that waits for all of its devices, and the audit log that says so.
. "$(dirname "$0")/fleet_lib.sh"

fleet() { "$TRIBUTARY" fleet "$host:$port" "$@" >fleet.txt 2>&1; }
# refused PATTERN ARGUMENT…
refused() {
  local pattern=$1
  shift
  if fleet "$@"; then fail "the coordinator did as asked: fleet $*"; fi
  grep -q -- "$pattern" fleet.txt || fail "expected '$pattern': $(cat fleet.txt)"
}

write_experiment federated 5000 sequential
make_keys pi-1 pi-2 pi-3 pi-4
start_coordinator coordinator ./tiny.toml --out run --checkpoint-every 0s
await_port coordinator
for name in pi-1 pi-2 pi-3 pi-4; do start_device "$name" --leave-when-done; done
within "$patience" "the first rounds" has_rounds run 2

# Devices may not, nobody may ask for what there is not, and a second coordinator's certificate may only look.
refused "'pi-1' is a device and may not change the run; operators may" --keys keys/devices/pi-1 --drop pi-2
refused "'coordinator' is a coordinator and may not change the run" --keys keys/coordinator --quorum 1
refused "no device 'pi-9' has joined this run" --keys keys --drop pi-9

# Revoked, a device can neither come back nor be done without, until it is dropped.
"$TRIBUTARY" keys revoke pi-4 >/dev/null
gone() { fleet --keys keys --json && python3 -c '
import json, sys
state = {device["name"]: device["state"] for device in json.load(open("fleet.txt"))["devices"]}
sys.exit(state[sys.argv[1]] != "gone")' "$1"; }
within "$patience" "the end of pi-4" gone pi-4
fleet --keys keys --drop pi-4 || fail "pi-4 cannot be dropped: $(cat fleet.txt)"
before=$(rounds_in run)
within "$patience" "rounds without pi-4" has_rounds run $((before + 3))

# Banned, a device that runs is out, and back once it is admitted.
fleet --keys keys --ban pi-2 || fail "pi-2 cannot be banned: $(cat fleet.txt)"
await pi-2 "an operator has banned 'pi-2' from this run"
before=$(rounds_in run)
within "$patience" "rounds without pi-2" has_rounds run $((before + 3))

# It stays so over a crash of the coordinator.
end coordinator KILL
start coordinator "$TRIBUTARY" coordinator --keys keys --listen "$host:$port" --resume run
before=$(rounds_in run)
within "$patience" "rounds after the crash" has_rounds run $((before + 3))
gone pi-2 || fail "a banned device is back: $(cat fleet.txt)"
fleet --keys keys --admit pi-2 || fail "pi-2 cannot be admitted: $(cat fleet.txt)"
back() { ! gone pi-2; }
within "$patience" "the return of pi-2" back

# And a device that is lost for good can be done without by a smaller quorum.
end pi-3 KILL
fleet --keys keys --quorum 1 || fail "the quorum cannot be changed: $(cat fleet.txt)"
before=$(rounds_in run)
within "$patience" "rounds without pi-3" has_rounds run $((before + 3))
end coordinator TERM

"$TRIBUTARY" audit verify run >audit.txt || fail "the audit log: $(cat audit.txt)"
grep -q 'the chain is whole' audit.txt || fail "$(cat audit.txt)"
for words in '"event":"begun"' '"event":"resumed"' '"event":"joined","device":"pi-3"' '"event":"left","device":"pi-4"' \
    '"event":"rejected".*revoked' '"request":"drop pi-4".*"outcome":"done"' '"request":"drop pi-9".*no device' \
    '"event":"rejected","device":"pi-1".*asks for drop: .*operators may' '"request":"quorum 1"'; do
  grep -q -- "$words" run/audit.jsonl || fail "the audit log does not say $words"
done
[ "$(stat -c %a run/audit.jsonl)" = 600 ] || fail "the audit log has mode $(stat -c %a run/audit.jsonl)"
sed -i '2s/joined/parted/' run/audit.jsonl
if "$TRIBUTARY" audit verify run >audit.txt 2>&1; then fail "a changed audit log is taken for whole"; fi
grep -q 'line 3: it does not follow the line before' audit.txt || fail "$(cat audit.txt)"
