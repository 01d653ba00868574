# Shared by the tests of real fleets: processes that talk over sockets with mutual TLS. Every wait is bounded, and
# whatever was started is killed at the end.
. "$(dirname "$0")/lib.sh"

patience=150               # seconds, for anything that is waited for
thorough=${THOROUGH:-1}    # 0 where sanitizers make everything slow: fewer kills
declare -A process_of=()   # name → process id
host=127.0.0.1             # the coordinator's
coordinator_in=() devices_in=()  # commands that run a program in a network of its own

clean_up() {
  local code=$? name
  for name in "${!process_of[@]}"; do kill -KILL "${process_of[$name]}" || true; done 2>/dev/null
  if [ "$code" -ne 0 ] && [ "$code" -ne 77 ]; then
    tail -n 5 ./*.log >&2 || true
    grep -hs -A 60 'ERROR: AddressSanitizer\|runtime error:' ./*.log >&2 || true
  fi
  wait || true
  rm -rf "$work"
} 2>&1
trap clean_up EXIT
trap 'exit 1' INT TERM

# within SECONDS WHAT COMMAND…: tries the command until it succeeds.
within() {
  local limit=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt $limit ] || fail "waited too long for $what"
    sleep 0.02
  done
}

# start NAME COMMAND…: in the background. What it says is added to NAME.log.
start() {
  local name=$1
  shift
  "$@" >>"$name.log" 2>&1 &
  process_of[$name]=$!
}

alive() { kill -0 "${process_of[$1]}" 2>/dev/null; }
ended() { ! alive "$1"; }

# expect_end CODE NAME: ends by itself, with this exit code.
expect_end() {
  local code=0
  within "$patience" "the end of $2" ended "$2"
  wait "${process_of[$2]}" || code=$?
  unset "process_of[$2]"
  [ "$code" -eq "$1" ] || fail "$2 ended with exit code $code, expected $1: $(tail -n 5 "$2.log")"
}

# end NAME SIGNAL: and without a word about it from the shell.
end() {
  kill "-$2" "${process_of[$1]}" 2>/dev/null || true
  { wait "${process_of[$1]}" || true; } 2>/dev/null
  unset "process_of[$1]"
}

says() { grep -qsE -- "$2" "$1.log"; }
# await NAME PATTERN: until it has said so.
await() { within "$patience" "'$2' from $1" says "$1" "$2"; }

# make_keys DEVICE…: an authority in keys/, and the bundles of these.
make_keys() {
  local name
  "$TRIBUTARY" keys init >/dev/null
  for name in "$@"; do "$TRIBUTARY" keys device "$name" >/dev/null; done
}

# start_coordinator NAME ARGUMENT…: on a free port, or on $port where that is set already.
start_coordinator() {
  local name=$1
  shift
  start "$name" "${coordinator_in[@]}" "$TRIBUTARY" coordinator --keys keys --listen "$host:${port:-0}" "$@"
}
# await_port NAME: sets $port.
await_port() {
  await "$1" '^listening on port [0-9]+$'
  port=$(sed -n 's/^listening on port //p' "$1.log" | tail -n 1)
}

# start_device NAME ARGUMENT…: which dials $port, and dials again soon.
start_device() {
  local name=$1
  shift
  start "$name" "${devices_in[@]}" "$TRIBUTARY" device --keys keys --name "$name" --join "$host:$port" --threads 1 \
    --longest-wait 300ms "$@"
}

# write_experiment METHOD ROUNDS [STRATEGY [COMPRESSION]]: tiny.toml, of four devices with few samples each that all must answer. Batch norms,
# momentum, samples held out, calibration, what compression left: all that a run has to carry from round to round.
write_experiment() {
  local more=$'[stream]\nscaling = "square-root"\nbase-batch = 16'
  [ "$1" = sync-sgd ] || more=$'local-steps = 2\nserver-optimiser = { kind = "adam", learning-rate = 0.01 }'
  cat >tiny.toml <<EOF
schema = 1
[experiment]
name = "tiny"
rounds = $2
evaluate-every = 4
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
method = "$1"
batch = 4
learning-rate = 0.05
momentum = 0.9
calibrate = 1
$more
[transfers]
strategy = "${3:-optimal}"
[compression]
kind = "${4:-adaptive-top-k}"
EOF
}

# rounds_in FOLDER: how many of its rounds have finished.
rounds_in() { grep -cs '"type":"round-finished"' "$1/events.jsonl" || true; }
# has_rounds FOLDER N: at least so many.
has_rounds() { [ "$(rounds_in "$1")" -ge "$2" ]; }

# evaluations FOLDER: what was measured when, without the time.
evaluations() { grep '"type":"evaluated"' "$1/events.jsonl" | sed 's/"time_ns":[0-9]*,//'; }

# expect_same FOLDER FOLDER: two runs have come to the same, to the last bit.
expect_same() {
  cmp "$1/weights.safetensors" "$2/weights.safetensors" || fail "the weights of $1 and $2 differ"
  diff <(evaluations "$1") <(evaluations "$2") >differences.txt ||
    fail "the evaluations of $1 and $2 differ: $(head -n 4 differences.txt)"
}

# expect_log FOLDER ROUNDS: every round is started and finished exactly once and in order, and every device's part in it
# is told exactly once.
expect_log() {
  local type
  for type in round-started round-finished; do
    grep "\"type\":\"$type\"" "$1/events.jsonl" | sed 's/.*"round":\([0-9]*\).*/\1/' >rounds.txt
    cmp -s rounds.txt <(seq "$2") || fail "$1: $type is not told once for each of $2 rounds: $(tr '\n' ' ' <rounds.txt)"
  done
  [ "$(grep -c '"type":"run-started"' "$1/events.jsonl")" -eq 1 ] || fail "$1 has not started exactly once"
  [ "$(grep -c '"type":"run-finished"' "$1/events.jsonl")" -eq 1 ] || fail "$1 has not finished exactly once"
  grep '"type":"device-finished"' "$1/events.jsonl" |
    sed 's/.*"round":\([0-9]*\),"device":\([0-9]*\).*/\1 \2/' | sort >parts.txt
  [ -z "$(uniq -d parts.txt)" ] || fail "$1: told twice (round, device): $(uniq -d parts.txt | head -n 5)"
}
# expect_all_applied FOLDER ROUNDS DEVICES
expect_all_applied() {
  local applied
  applied=$(grep '"type":"device-finished"' "$1/events.jsonl" | grep -c '"outcome":"applied"' || true)
  [ "$applied" -eq $(($2 * $3)) ] || fail "$1: $applied updates were applied, not $3 in each of $2 rounds"
}
