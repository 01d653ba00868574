# Four real devices that exchange models with each other over mutual TLS come to the very weights of the simulated run: with
# D-PSGD and with MATCHA; where one cannot be reached, or another answers at its address, and its models are relayed; when
# devices or the coordinator are killed in the middle. Where one need not be waited for, its neighbours go on without it, and
# take it back when it returns.
. "$(dirname "$0")/fleet_lib.sh"

devices="pi-1 pi-2 pi-3 pi-4"

# write_gossip ROUNDS [LINE…]: gossip.toml, with more lines for [gossip].
write_gossip() {
  local rounds=$1
  shift
  cat >gossip.toml <<EOT
schema = 1
[experiment]
name = "gossip"
rounds = $rounds
evaluate-every = 10
[model]
name = "resnet8"
[data]
set = "glyphs"
split = { kind = "dirichlet", alpha = 0.5 }
train-limit = 120
test-limit = 20
hold-out = 0.2
[fleet]
quorum = 1.0
[[fleet.group]]
name = "all"
count = 4
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "gossip"
batch = 4
local-steps = 2
learning-rate = 0.05
momentum = 0.9
[gossip]
$(printf '%s\n' "$@")
EOT
}

# simulate FOLDER ARGUMENT…
simulate() { "$TRIBUTARY" run ./gossip.toml --out "$@" --quiet >/dev/null; }

advertise=(--advertise 127.0.0.1:0)
# begin FOLDER ARGUMENT…: the coordinator and all devices.
begin() {
  local folder=$1 name
  shift
  port=
  start_coordinator "coordinator-$folder" ./gossip.toml --out "$folder" "$@"
  await_port "coordinator-$folder"
  for name in $devices; do start_device "$name" --leave-when-done "${advertise[@]}"; done
}
finish() {
  local name
  expect_end 0 "coordinator-$1"
  for name in $devices; do expect_end 0 "$name"; done
}

# sum FIELD FOLDER: over all devices and rounds.
sum() { grep '"type":"device-finished"' "$2/events.jsonl" | sed "s/.*\"$1\":\([0-9]*\).*/\1/" | paste -sd+ | bc; }

make_keys $devices
ring=('algorithm = "d-psgd"' 'topology = "ring"')
write_gossip 20 "${ring[@]}"
simulate simulated
begin real
finish real
expect_same simulated real
expect_log real 20
expect_all_applied real 20 4
[ "$(sum met real)" -eq 160 ] || fail "$(sum met real) meetings, not 20 rounds of 4 devices with 2 neighbours"
[ "$(sum bytes_relayed real)" -eq 0 ] || fail "$(sum bytes_relayed real) bytes were relayed, though all can be reached"
# The same bytes as simulated, and what the devices began with.
model=$(($(sum bytes_up simulated) / 160))
[ "$(sum bytes_up real)" -eq "$(sum bytes_up simulated)" ] || fail "other bytes went up than simulated"
[ "$(sum bytes_down real)" -eq $(($(sum bytes_down simulated) + 4 * model)) ] || fail "other bytes came down than simulated"

# One that cannot be reached, one that says nothing of where it is, and one that names the address of another.
port=
start_coordinator coordinator-relayed ./gossip.toml --out relayed
await_port coordinator-relayed
start_device pi-1 --leave-when-done --advertise 127.0.0.1:0
address_of() { "$TRIBUTARY" fleet "$host:$port" --keys keys --json | sed -n 's/.*"advertised": "\(.*\)".*/\1/p' | head -n 1; }
there() { address=$(address_of) && [ -n "$address" ]; }
within "$patience" "the address of pi-1" there
start_device pi-2 --leave-when-done --advertise 127.0.0.1:1 --listen 127.0.0.1:0
start_device pi-3 --leave-when-done
start_device pi-4 --leave-when-done --advertise "$address" --listen 127.0.0.1:0
finish relayed
expect_same simulated relayed
[ "$(sum met relayed)" -eq 160 ] || fail "$(sum met relayed) meetings"
# Of the four, only pi-1's model goes directly to its two neighbours.
[ "$(sum bytes_relayed relayed)" -eq $((120 * model)) ] || fail "$(sum bytes_relayed relayed) bytes were relayed"
for name in pi-2 pi-4; do
  found=$(grep -lE "^'$name' at .*: no trusted peer answers at this address; its model comes by way" pi-?.log | wc -l)
  [ "$found" -eq 2 ] || fail "$found devices have found nobody at the address of $name, not its two neighbours"
done
says pi-3 'go by way of the coordinator' || fail "pi-3 does not know that nobody can reach it"

# Matchings, some of them in each round.
write_gossip 8 'algorithm = "matcha"' 'topology = "complete"' 'budget = 0.5'
simulate matcha
begin real-matcha
finish real-matcha
expect_same matcha real-matcha
[ "$(sum met real-matcha)" -eq "$(sum met matcha)" ] || fail "other meetings than simulated"

# One is killed and comes back, again and again; everybody waits, and nothing of its work counts twice.
write_gossip 20 "${ring[@]}"
begin killed --grace 60s
for round in 3 7 12; do
  await coordinator-killed "^round $round/"
  end pi-2 KILL
  start_device pi-2 --leave-when-done "${advertise[@]}"
done
finish killed
expect_same simulated killed
expect_log killed 20

# The coordinator is killed: it goes on, and so do the models that the devices have kept.
begin resumed --checkpoint-every 0s
await coordinator-resumed '^round 6/'
end coordinator-resumed KILL
start_coordinator coordinator-again --resume resumed
expect_end 0 coordinator-again
for name in $devices; do expect_end 0 "$name"; done
expect_same simulated resumed
expect_log resumed 20

# Where it need not be waited for, its neighbours go on without it, and take it back with the model that it had.
begin without --set fleet.quorum=3 --set experiment.rounds=200 --grace 100ms  # Long enough for a process to start.
within "$patience" "the first rounds" has_rounds without 5
end pi-2 KILL
before=$(rounds_in without)
within "$patience" "rounds without pi-2" has_rounds without $((before + 5))
start_device pi-2 --leave-when-done "${advertise[@]}"
finish without
expect_log without 200
met_by_round() {
  grep '"type":"device-finished"' "$1/events.jsonl" | grep '"met"' |
    sed 's/.*"round":\([0-9]*\),.*"met":\([0-9]*\).*/\1 \2/' | awk '{met[$1] += $2} END {for (r in met) print r, met[r]}' | sort -n
}
met_by_round without >met.txt
[ "$(head -n 1 met.txt)" = "1 8" ] || fail "not all have met in the first round: $(head -n 3 met.txt)"
# Three devices of the ring, of which the two at its ends have one neighbour each.
grep -q ' 4$' met.txt || fail "nobody went on without pi-2: $(tr '\n' ';' <met.txt)"
[ "$(tail -n 1 met.txt)" = "200 8" ] || fail "pi-2 was not taken back: $(tail -n 3 met.txt)"
if says pi-2 'is not here any more'; then fail "pi-2 has lost its model"; fi
