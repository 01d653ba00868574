# The coordinator is killed again and again, wherever it is: starting, gathering, in a round, with updates half uploaded,
# evaluating, writing a checkpoint. It goes on each time, its devices come back by themselves, and the run ends with the
# weights of one that nobody disturbed and a log in which everything has happened once.
. "$(dirname "$0")/fleet_lib.sh"

RANDOM=20240229
kills=50 rounds=250 most_rounds_in_a_life=4
[ "$thorough" -eq 1 ] || kills=5 rounds=30
make_keys pi-1 pi-2 pi-3 pi-4
write_experiment federated $rounds
"$TRIBUTARY" run ./tiny.toml --out undisturbed --quiet >/dev/null

go_on() {
  if [ -e run/experiment.toml ]; then
    start_coordinator coordinator --resume run --checkpoint-every 0s
  else
    start_coordinator coordinator ./tiny.toml --out run --checkpoint-every 0s
  fi
}

# idle MILLISECONDS: at most; less where the run is quick, so that it lasts for all kills.
idle() {
  local until=$(($(date +%s%N) + $1 * 1000000))
  while [ "$(date +%s%N)" -lt "$until" ] && ! has_rounds run $((before + most_rounds_in_a_life)); do sleep 0.01; done
}

declare -A killed_in=()
go_on
await_port coordinator
for name in pi-1 pi-2 pi-3 pi-4; do start_device $name --leave-when-done; done
for ((kill = 1; kill <= kills; ++kill)); do
  before=$(rounds_in run)
  case $((RANDOM % 4)) in
    0) idle $((RANDOM % 1000)) ;;
    1)
      await coordinator '^listening'
      idle $((RANDOM % 500))
      ;;
    *)
      within $patience "a round" has_rounds run $((before + 1 + RANDOM % most_rounds_in_a_life))
      sleep "0.0$((RANDOM % 5))$((RANDOM % 10))"
      ;;
  esac
  alive coordinator || fail "the coordinator ended before it was killed for the $kill. time"
  where=start-up
  if says coordinator '^listening'; then where=gathering; fi
  if [ "$where" = gathering ] && [ "$(rounds_in run)" -gt "$before" ]; then where=rounds; fi
  killed_in[$where]=$((${killed_in[$where]:-0} + 1))
  end coordinator KILL
  mv coordinator.log "life-$kill.log"
  go_on
done
echo "killed $kills times: ${killed_in[start-up]:-0} in start-up, ${killed_in[gathering]:-0} before its first round," \
  "${killed_in[rounds]:-0} later; $(rounds_in run) of $rounds rounds were done"
expect_end 0 coordinator
for name in pi-1 pi-2 pi-3 pi-4; do expect_end 0 $name; done
expect_same undisturbed run
expect_log run $rounds
expect_all_applied run $rounds 4
