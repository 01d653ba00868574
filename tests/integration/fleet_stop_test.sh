# A real fleet is stopped and goes on: Ctrl-C and SIGTERM leave a round in the middle and lose nothing, one folder has one
# coordinator, a broken checkpoint is passed over, and devices come and go as they like.
. "$(dirname "$0")/fleet_lib.sh"

devices=(pi-1 pi-2 pi-3 pi-4)
make_keys "${devices[@]}"
write_experiment federated 12
steps=60  # so that a stop falls into a round
sed -i "s/^local-steps = .*/local-steps = $steps/" tiny.toml
"$TRIBUTARY" run ./tiny.toml --out undisturbed --quiet >/dev/null

# stop NAME SIGNAL: ends with 0, soon, and says how to go on.
stop() {
  local begun=$SECONDS
  kill "-$2" "${process_of[$1]}"
  expect_end 0 "$1"
  [ $((SECONDS - begun)) -le 5 ] || [ "$thorough" -ne 1 ] || fail "$1 took $((SECONDS - begun)) s to stop"
  says "$1" '^stopped; go on with: tributary coordinator --resume run$' || fail "$1 does not say how to go on"
  [ ! -e run/weights.safetensors ] || fail "a stopped run is not a finished one"
  mv "$1.log" "$1-$2-$begun.log"
}
go_on() { start_coordinator coordinator --resume run --checkpoint-every 0s; }

# While it waits for devices; these wait for it.
start_coordinator coordinator ./tiny.toml --out run
await_port coordinator
stop coordinator INT
for name in "${devices[@]}"; do start_device $name --leave-when-done; done
await pi-1 "^no coordinator that can be trusted answers at 127.0.0.1:$port .*; dialling again until it works"
go_on
within $patience "two rounds" has_rounds run 2

# In the middle of a round.
sleep 0.2
stop coordinator TERM
ls run/checkpoints/round-*.checkpoint >/dev/null || fail "there is no checkpoint"
kept=$(ls run/checkpoints | tail -n 1)
go_on
await coordinator '^resuming after round [0-9]+$'
within $patience "a round" has_rounds run $(($(rounds_in run) + 1))

# There is one already.
code=0
"$TRIBUTARY" coordinator --resume run --keys keys --listen 127.0.0.1:0 >out.txt 2>err.txt || code=$?
[ "$code" -eq 1 ] || fail "a second coordinator of one folder: exit code $code"
grep -q 'the run folder run is in use by another coordinator' err.txt || fail "$(cat err.txt)"
expect_error "the run folder run exists already; name another with --out" coordinator ./tiny.toml --out run --keys keys

# The newest checkpoint is damaged.
within $patience "two checkpoints" has_rounds run $(($(rounds_in run) + 2))
stop coordinator INT
newest=run/checkpoints/$(ls run/checkpoints | tail -n 1)
[ "$newest" != "run/checkpoints/$kept" ] || fail "no checkpoint since $kept"
size=$(stat -c %s "$newest")
printf 'damaged' | dd of="$newest" bs=1 seek=$((size / 2)) conv=notrunc status=none
go_on
await coordinator "$(basename "$newest")"
await coordinator '^resuming after round [0-9]+$'
expect_end 0 coordinator
for name in "${devices[@]}"; do expect_end 0 $name; done
expect_same undisturbed run
expect_log run 12
expect_all_applied run 12 4

# Killed after the last round, before its results were written: nobody has to come back for them.
mv run/weights.safetensors run/summary.json .
start_coordinator coordinator --resume run
expect_end 0 coordinator
expect_same undisturbed run
expect_log run 12
[ "$(grep -c '"applied": 12' run/summary.json)" -eq 4 ] || fail "the summary has lost devices: $(cat run/summary.json)"

# Where not all must answer, devices come and go.
rm -f ./*.log
port=
start_coordinator coordinator ./tiny.toml --out loose --set fleet.quorum=1 --set experiment.rounds=100000 \
  --set train.local-steps=2 --grace 300ms --wait-for 2
await_port coordinator
start_device pi-1
start_device pi-2
within $patience "a round of two" has_rounds loose 1
start_device pi-3 --once
expect_end 0 pi-3
[ "$(grep -c '^round ' pi-3.log)" -eq 1 ] || fail "--once took part in several rounds: $(cat pi-3.log)"
[ "$(grep '"type":"device-finished"' loose/events.jsonl | grep '"device":2,' | grep -c '"applied"')" -eq 1 ] ||
  fail "--once was not applied exactly once"
kill -TERM "${process_of[pi-2]}"
expect_end 0 pi-2
within $patience "rounds without pi-2" has_rounds loose $(($(rounds_in loose) + 3))
grep '"type":"round-finished"' loose/events.jsonl | tail -n 1 | grep -q '"applied":1,"late":0,"lost":2,' ||
  fail "pi-2 and pi-3 are not missed: $(tail -n 5 loose/events.jsonl)"

# Who is there, for the operator only.
expect_output '^tiny, round [0-9]+ of 100000$' fleet "127.0.0.1:$port" --keys keys
expect_output '^ +0 +pi-[12] .* 1 +[0-9]+ +[0-9]+ +[0-9]+/[0-9]+ .*' fleet "127.0.0.1:$port" --keys keys/operator
expect_output '"name": "pi-3"' fleet "127.0.0.1:$port" --keys keys --json
[ "$(grep -c '"state": "gone"' out.txt)" -eq 2 ] || fail "expected two that are gone: $(cat out.txt)"
grep -E '"(up|down)_bits_per_second": [0-9]{12}' out.txt && fail "a link that nobody has"
expect_error "'pi-1' is a device and may not look at the fleet; observers, operators, coordinators may" fleet "127.0.0.1:$port" \
  --keys keys/devices/pi-1

# With --verbose the log has each step, with date, time and level.
start_device pi-3 --verbose
await pi-3 '^[0-9-]{10} [0-9:.]{12} info +joined as device'
await pi-3 '^[0-9-]{10} [0-9:.]{12} debug +work of round [0-9]+ begins$'
kill -TERM "${process_of[pi-3]}"
expect_end 0 pi-3
expect_error '--verbose excludes --quiet|--quiet excludes --verbose' device --join "127.0.0.1:$port" --quiet --verbose

# A key that is taken back is refused at once.
start_device pi-4
await pi-4 '^joined'
"$TRIBUTARY" keys revoke pi-4 >/dev/null
await pi-4 'revoked'
kill -INT "${process_of[pi-4]}"
expect_end 0 pi-4
kill -INT "${process_of[coordinator]}"
expect_end 0 coordinator
await pi-1 'the coordinator has gone away; dialling again until it works'
kill -INT "${process_of[pi-1]}"
expect_end 0 pi-1
