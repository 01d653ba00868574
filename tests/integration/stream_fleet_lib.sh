# Shared by the tests of real devices that train on streams from a broker: the data, the experiment, and what must be in
# the log of a run at its end. After stream_lib.sh.

devices=(pi-0 pi-1 pi-2 pi-3)

# make_data: ./bars, small images of ten classes, each with a bright row or column of its own in some noise. A network
# that learns at all learns these within a minute.
make_data() {
  mkdir bars
  { npy '|u1' '4000, 1, 10, 10'; LC_ALL=C awk 'BEGIN { srand(7); for (i = 0; i < 4000; ++i) {
      k = i % 10
      for (p = 0; p < 100; ++p) printf "%c", ((k % 2 ? int(p / 10) : p % 10) == k ? 80 : 1) + int(40 * rand())
    } }'; } >bars/X.npy
  { npy '|u1' '4000,'; for i in {1..400}; do bytes 00 01 02 03 04 05 06 07 08 09; done; } >bars/y.npy
}

# write_stream_experiment ROUNDS BATCH [STREAM-KEYS]: of four devices that all must answer, and of which some share samples.
write_stream_experiment() {
  cat >stream.toml <<EOF
schema = 1
[experiment]
name = "stream"
seed = 3
rounds = $1
evaluate-every = 10
[model]
name = "cnn"
[data]
set = "./bars"
[fleet]
quorum = 1.0
[[fleet.group]]
name = "all"
count = 4
compute = "1G"
uplink = "10Mbit/s"
stream-rate = 100
[train]
method = "sync-sgd"
batch = $2
learning-rate = 0.02
momentum = 0.9
[stream]
$3
[compression]
kind = "adaptive-top-k"
[injection]
devices = 0.5
share = 0.25
EOF
}

# start_stream_device NUMBER: on the topic of its number.
start_stream_device() { start_device "pi-$1" --leave-when-done --allow samples --stream "$broker/$topics$1" --buffer-memory 20kB "${more[@]}"; }
more=()
# Devices get their numbers in the order of coming.
start_stream_devices() {
  local i
  for i in 0 1 2 3; do
    start_stream_device $i
    await "pi-$i" "joined as device $i"
  done
}

settings=()  # of a new run
# go_on: the coordinator, anew or again.
go_on() {
  if [ -e "$run/experiment.toml" ]; then
    start_coordinator coordinator --resume "$run" --checkpoint-every 0s
  else
    start_coordinator coordinator ./stream.toml --out "$run" --checkpoint-every 0s "${settings[@]}"
  fi
}

# kill_by_turns TIMES LAST: the coordinator and the devices, at moments of their own. Each time some round has passed, and
# never after round LAST, when the run might be over before it is noticed.
kill_by_turns() {
  local i before victim
  for ((i = 0; i < $1; ++i)); do
    before=$(rounds_in "$run")
    [ "$before" -lt "$2" ] || fail "only $i kills of $1 by round $before"
    within $patience "a round" has_rounds "$run" $((before + 1 + RANDOM % 2))
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    victim=$((RANDOM % 6))
    if [ $victim -lt 4 ]; then
      end "pi-$victim" KILL
      start_stream_device $victim
    else
      end coordinator KILL
      mv coordinator.log "life-$i.log"
      go_on
    fi
  done
}

# ranges_of DEVICE: the positions of its stream that are in the model, a line "first last" per round.
ranges_of() {
  grep "\"type\":\"device-finished\".*\"device\":$1,\"outcome\":\"applied\"" "$run/events.jsonl" |
    sed 's/.*"stream_first":\([0-9]*\),"stream_last":\([0-9]*\).*/\1 \2/'
}

# expect_once DEVICE: every position from 0 on is in the model once: each round goes on where the one before ended.
expect_once() {
  ranges_of "$1" >ranges.txt
  [ -s ranges.txt ] || fail "device $1 has told of no positions"
  awk -v next_one=0 '$1 != next_one { print "round " NR " has " $0 ", not from " next_one; exit 1 } { next_one = $2 + 1 }' \
    ranges.txt >wrong.txt || fail "device $1: $(cat wrong.txt)"
}

accuracy_of() { sed -n 's/.*"where":"central","accuracy":\([0-9.e-]*\).*/\1/p' "$1/events.jsonl" | tail -n 1; }
losses_of() { sed -n 's/.*"train_loss":\([0-9.e-]*\).*/\1/p' "$1/events.jsonl" | tr '\n' ' '; }
