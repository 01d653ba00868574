# Devices are killed again and again, while they start, pull, compute and push, and started again. Where all must answer,
# the weights are those of a run that nobody disturbed. With a deadline rounds end without the missing ones, and no
# update counts twice.
. "$(dirname "$0")/fleet_lib.sh"

RANDOM=19991231
devices=(pi-1 pi-2 pi-3 pi-4)
make_keys "${devices[@]}"

# kill_devices KILLS RUN: after a round, one to four devices, each at a moment of its own; now and then one of them again
# while it starts. Again and again, until there were so many.
kill_devices() {
  local name before
  kills=0
  while [ $kills -lt $1 ]; do
    before=$(rounds_in $2)
    within $patience "a round after $kills kills" has_rounds $2 $((before + 1))
    for name in $(shuf -n $((1 + RANDOM % 4)) -e --random-source=<(yes $RANDOM) "${devices[@]}"); do
      sleep "0.0$((RANDOM % 5))$((RANDOM % 10))"
      kill_device $name
      if [ $((RANDOM % 5)) -eq 0 ]; then
        sleep "0.$((RANDOM % 10))"
        kill_device $name
      fi
    done
  done
  alive $2 || fail "the run was over before all of $kills kills"
  echo "killed $kills devices in $(rounds_in $2) rounds"
}
kill_device() {
  end $1 KILL
  start_device $1 --leave-when-done
  kills=$((kills + 1))
}

# All must answer.
wanted=30 rounds=240
[ "$thorough" -eq 1 ] || wanted=5 rounds=40
write_experiment federated $rounds
"$TRIBUTARY" run ./tiny.toml --out undisturbed --quiet >/dev/null
port=
start_coordinator strict ./tiny.toml --out strict
await_port strict
for name in "${devices[@]}"; do start_device $name --leave-when-done; done
kill_devices $wanted strict
expect_end 0 strict
for name in "${devices[@]}"; do expect_end 0 $name; done
expect_same undisturbed strict
expect_log strict $rounds
expect_all_applied strict $rounds 4

# Whoever is there.
wanted=12 rounds=60
[ "$thorough" -eq 1 ] || wanted=5 rounds=30
port=
start_coordinator loose ./tiny.toml --out loose --set experiment.rounds=$rounds --set fleet.quorum=1 \
  --set 'fleet.deadline="300ms"' --set train.local-steps=10 --grace 1s
await_port loose
for name in "${devices[@]}"; do start_device $name --leave-when-done; done
kill_devices $wanted loose
expect_end 0 loose
for name in "${devices[@]}"; do expect_end 0 $name; done
expect_log loose $rounds
applied=$(grep '"type":"device-finished"' loose/events.jsonl | grep -c '"outcome":"applied"')
[ "$applied" -lt $((4 * rounds)) ] || fail "nobody was ever missing"
sum=$(sed -n 's/.*"type":"round-finished".*"applied":\([0-9]*\),.*/\1/p' loose/events.jsonl | paste -sd+)
[ "$applied" -eq $((sum)) ] || fail "$applied updates were applied, but the rounds count $((sum))"
echo "$applied of $((4 * rounds)) updates were there in time"
