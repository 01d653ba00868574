# The authority of a fleet is replaced while the fleet trains: nobody is restarted, no round is lost, and at the end
# nobody trusts the old one. Then the key of a coordinator is stolen, and its devices leave it.
. "$(dirname "$0")/fleet_lib.sh"

keys() { "$TRIBUTARY" keys "$@" >keys.txt 2>&1 || fail "keys $*: $(cat keys.txt)"; }
more_rounds() {
  local before
  before=$(rounds_in run)
  within "$patience" "rounds $1" has_rounds run $((before + 2))
}
serial() { openssl x509 -in "$1/cert.pem" -noout -serial | sed 's/serial=0*//'; }
# told_of NAME: the coordinator has admitted the device with its new certificate.
told_of() { grep -q "\"event\":\"joined\",\"device\":\"$1\".*\"certificate\":\"0*$(serial bundles/$1)\"" run/audit.jsonl; }

command -v openssl >/dev/null || skip "fleet_rotation (there is no openssl tool)"
umask 000  # Nothing may rely on a careful one.
write_experiment federated 5000 sequential
devices="pi-1 pi-2 pi-3 pi-4"
make_keys $devices
keys observer alice
mkdir bundles
for name in $devices; do cp -r keys/devices/$name bundles/; done  # each device has its own copy
start_coordinator coordinator ./tiny.toml --out run --checkpoint-every 0s
await_port coordinator
for name in $devices; do
  start "$name" "$TRIBUTARY" device --keys bundles/$name --join "$host:$port" --threads 1 --longest-wait 300ms --state state-$name
done
within "$patience" "the first rounds" has_rounds run 2
keys_before=$(md5sum <keys/ca.key)

# Step 1: both authorities are trusted. The coordinator reads its files here; the devices get ca.pem.
keys rotate
[ "$keys_before" != "$(md5sum <keys/ca.key)" ] || fail "the key of the authority is the same"
for name in $devices; do cp keys/ca.pem bundles/$name/ca.pem; done
more_rounds "with both authorities"

# Step 2: new certificates, the coordinator's first. The device that is not told of it connects with its old one.
keys coordinator --renew
for name in pi-1 pi-2 pi-3; do
  keys device $name --renew
  cp keys/devices/$name/* bundles/$name/
done
more_rounds "with new certificates"
"$TRIBUTARY" keys retire >keys.txt 2>&1 && fail "the authority is retired while it is needed"
grep -q 'certificates of the previous authority only: alice, operator, pi-4' keys.txt || fail "$(cat keys.txt)"
keys observer alice --renew
keys operator --renew
keys device pi-4 --renew
cp keys/devices/pi-4/* bundles/pi-4/

# Step 3: the old one is trusted no more. Sessions with old certificates end, and begin again with new ones.
keys retire
for name in $devices; do cp keys/ca.pem bundles/$name/ca.pem; done
for name in $devices; do within "$patience" "the new certificate of $name" told_of "$name"; done
more_rounds "with the new authority alone"

# Everybody is the process that it was, and every round is there once, with all devices.
for name in coordinator $devices; do alive "$name" || fail "$name has ended: $(tail -n 3 "$name.log")"; done
last=$(rounds_in run)
grep '"type":"round-finished"' run/events.jsonl | sed 's/.*"round":\([0-9]*\).*/\1/' | head -n "$last" >rounds.txt
cmp -s rounds.txt <(seq "$last") || fail "rounds are missing: $(tr '\n' ' ' <rounds.txt)"
lost=$(head -n "$(grep -n '"type":"round-finished"' run/events.jsonl | tail -n 1 | cut -d: -f1)" run/events.jsonl |
  grep '"type":"device-finished"' | grep -vc '"outcome":"applied"' || true)
[ "$lost" -eq 0 ] || fail "$lost parts of rounds were lost: $(grep '"type":"device-finished"' run/events.jsonl | grep -v '"outcome":"applied"' | head -n 3)"

others=$(find run state-pi-* -perm /077 ! -name report.html)
[ -z "$others" ] || fail "others can read $others"

# Roles, with real programs: an observer sees the fleet and changes nothing; a device does neither.
"$TRIBUTARY" fleet "$host:$port" --keys keys/observers/alice >fleet.txt 2>&1 || fail "alice may not watch: $(cat fleet.txt)"
for change in "--drop pi-1" "--ban pi-1" "--admit pi-1" "--quorum 1"; do
  for who in observers/alice devices/pi-2 coordinator; do
    # shellcheck disable=SC2086
    "$TRIBUTARY" fleet "$host:$port" --keys keys/$who $change >fleet.txt 2>&1 && fail "$who changed the run: $change"
    grep -q 'may not change the run; operators may' fleet.txt || fail "$who: $(cat fleet.txt)"
  done
done
"$TRIBUTARY" fleet "$host:$port" --keys keys/devices/pi-2 >fleet.txt 2>&1 && fail "a device watches the fleet"
grep -q "'pi-2' is a device and may not look at the fleet" fleet.txt || fail "$(cat fleet.txt)"
start alice "$TRIBUTARY" device --keys keys/observers/alice --join "$host:$port" --state alice
await alice "'alice' is an observer and may not take part; devices may"
end alice TERM

# A stolen coordinator: its certificate is revoked, and the devices have heard of it.
cp -r keys/coordinator stolen
cp keys/revoked.pem stolen/
keys coordinator --renew
cp keys/revoked.pem newest.pem
within "$patience" "the new list at the devices" cmp -s newest.pem state-pi-1/revoked.pem
end coordinator KILL
start thief "$TRIBUTARY" coordinator ./tiny.toml --keys stolen --listen "$host:$port" --out theft
await thief '^listening on port'
await pi-1 "older revocation list|has been revoked"
[ ! -e theft/events.jsonl ] || ! grep -q '"event":"joined"' theft/audit.jsonl || fail "a device works for a stolen coordinator"
