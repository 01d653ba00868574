#!/usr/bin/env bash
# Devices that train what they can afford, for real: four processes whose processors are taken from them and given back
# while they train. A round waits for all, so that how long it takes says whether they kept the deadline.
. "$(dirname "$0")/fleet_lib.sh"

rounds=${DROPOUT_ROUNDS:-21}  # 5 % of twenty are one
devices=(a b c d)

# What a process gets of a processor, in thousandths, in turns of 5 ms: by a control group where this machine lets us make
# one, otherwise by stopping it for the rest of every turn.
groups=/sys/fs/cgroup/cpu/tributary-test-$$
if mkdir "$groups" 2>/dev/null && mkdir "$groups/a" && echo 5000 >"$groups/a/cpu.cfs_period_us" 2>/dev/null &&
  echo 1500 >"$groups/a/cpu.cfs_quota_us" 2>/dev/null; then
  limits="control groups"
  for name in "${devices[@]}"; do
    mkdir -p "$groups/$name"
    echo 5000 >"$groups/$name/cpu.cfs_period_us"
  done
  limit() { echo $(($2 * 5)) >"$groups/$1/cpu.cfs_quota_us"; }
  confine() { echo "${process_of[$1]}" >"$groups/$1/cgroup.procs"; }
  remove_limits() { rmdir "$groups"/* "$groups" 2>/dev/null || true; }
else
  rmdir "$groups/a" "$groups" 2>/dev/null || true
  limits="stopping and continuing"
  limit() { echo "$2" >"limit.$1"; }
  confine() {
    local pid=${process_of[$1]} name=$1 on
    limit "$name" 300
    while kill -0 "$pid" 2>/dev/null; do
      read -r on <"limit.$name" || on=300
      kill -CONT "$pid" 2>/dev/null || break
      sleep "0.00$((on * 5 / 1000))$((on * 5 % 1000 / 100))"
      kill -STOP "$pid" 2>/dev/null || break
      sleep "0.00$(((1000 - on) * 5 / 1000))$(((1000 - on) * 5 % 1000 / 100))"
    done &
    process_of[throttle-$name]=$!
  }
  remove_limits() { :; }
fi
trap 'clean_up; remove_limits' EXIT

cp "$(dirname "$0")/resnet8_front.json" front.json
# write_dropout_experiment METHOD ROUNDS DEADLINE
write_dropout_experiment() {
  cat >drop.toml <<END
schema = 1
[experiment]
name = "drop"
rounds = $2
evaluate-every = 100
[model]
name = "resnet8"
[data]
set = "glyphs"
train-limit = 1600
test-limit = 40
[fleet]
quorum = 1.0
deadline = "$3ms"
[[fleet.group]]
name = "all"
count = 4
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "federated"
batch = 32
local-steps = 20
learning-rate = 0.02
[dropout]
method = "$1"
END
  [ "$1" != pareto ] || echo 'front = "front.json"' >>drop.toml
}

# Gives each of them another share every so often, from 0.2 to 0.5 of a processor; always the same ones.
shake() {
  local turn=0 name number
  while :; do
    for name in "${devices[@]}"; do
      number=$(((turn * 7 + $(printf '%d' "'$name") * 13) % 4))
      limit "$name" $((200 + number * 100))
    done 2>/dev/null
    turn=$((turn + 1))
    sleep 0.6
  done
}

# run_fleet METHOD ROUNDS DEADLINE: leaves its folder, run-METHOD.
run_fleet() {
  local method=$1 name
  write_dropout_experiment "$method" "$2" "$3"
  port=""
  start_coordinator "coordinator-$method" drop.toml --out "run-$method"
  await_port "coordinator-$method"
  for name in "${devices[@]}"; do
    start_device "$name" --leave-when-done
    confine "$name"
  done
  start shaker shake
  expect_end 0 "coordinator-$method"
  end shaker KILL
  for name in "${devices[@]}"; do
    expect_end 0 "$name"
    [ -z "${process_of[throttle-$name]:-}" ] || end "throttle-$name" KILL
  done
}

# round_times METHOD: in milliseconds, without the first round, which is one of getting to know each other.
round_times() {
  sed -n 's/.*"type":"round-finished".*"duration_ns":\([0-9]*\).*/\1/p' "run-$1/events.jsonl" | tail -n +2 |
    awk '{ printf "%.0f\n", $1 / 1e6 }'
}

make_keys "${devices[@]}"
# How long it takes to train everything says what is a deadline that does not leave enough time for it.
run_fleet full 4 600000
full_ms=$(round_times full | awk '{ n++; sum += $1 } END { printf "%.0f", sum / n }')
deadline_ms=$((full_ms * 6 / 10))
run_fleet pareto "$rounds" "$deadline_ms"
read -r count within mean longest <<<"$(round_times pareto | awk -v deadline="$deadline_ms" '
  { n++; sum += $1; if ($1 <= 1.1 * deadline) ok++; if ($1 > most) most = $1 }
  END { printf "%d %.3f %.3f %.3f", n, ok / n, sum / n / deadline, most / deadline }')"
kept=$(sed -n 's/.*"type":"device-finished".*"kept":\([0-9.e-]*\).*/\1/p' run-pareto/events.jsonl | awk '
  { n++; sum += $1; if (n == 1 || $1 < least) least = $1; if ($1 > most) most = $1 }
  END { printf "%.2f (%.2f to %.2f)", sum / n, least, most }')
echo "everything: $full_ms ms a round; deadline $deadline_ms ms; processors limited by $limits"
echo "pareto: $count rounds, $within within 1.10 of the deadline, mean $mean of it, longest $longest; kept $kept"
[ "$(grep -c '"type":"device-finished".*"outcome":"applied"' run-pareto/events.jsonl)" -eq $((4 * rounds)) ] ||
  fail "not every device was applied in every round"
awk -v share="$within" 'BEGIN { exit !(share >= 0.95) }' ||
  fail "only $within of the rounds kept the deadline of $deadline_ms ms: $(round_times pareto | tr '\n' ' ')"
awk -v mean="$mean" 'BEGIN { exit !(mean >= 0.7) }' ||
  fail "rounds took $mean of the deadline on average, though there was more to train"
awk -v full="$full_ms" -v deadline="$deadline_ms" 'BEGIN { exit !(full > 1.1 * deadline) }' ||
  fail "the whole network fits into the deadline too: this tells nothing"
