# The network between the coordinator and its devices breaks in the middle of a round, so that neither side hears of it:
# first for long enough that both give the connection up, then while the coordinator is killed and started again. Devices
# come back by themselves, and the weights are those of a run that nobody disturbed.
. "$(dirname "$0")/fleet_lib.sh"

[ "$(id -u)" -eq 0 ] || skip "fleet_network (needs root, for networks of its own)"
command -v ip >/dev/null || skip "fleet_network (needs ip, of iproute2)"
here=tributary-$$-here there=tributary-$$-there
ip netns add $here 2>err.txt || skip "fleet_network (a network namespace cannot be made here: $(cat err.txt))"
# The link goes with its namespaces, and they go when their processes have.
trap 'clean_up; ip netns delete $here; ip netns delete $there' EXIT
ip netns add $there
ip link add coordinator netns $here type veth peer name devices netns $there ||
  skip "fleet_network (a virtual link cannot be made here)"
ip -n $here address add 10.77.0.1/24 dev coordinator
ip -n $there address add 10.77.0.2/24 dev devices
ip -n $here link set coordinator up
ip -n $there link set devices up
host=10.77.0.1
coordinator_in=(ip netns exec $here) devices_in=(ip netns exec $there)
break_link() { ip -n $here link set coordinator down; }
mend_link() { ip -n $here link set coordinator up; }

# await_rounds: that the run goes on.
await_rounds() {
  local begun=$SECONDS
  within $patience "a round after $1" has_rounds run $(($(rounds_in run) + 2))
  echo "$1: rounds go on after at most $((SECONDS - begun + 1)) s"
}

devices=(pi-1 pi-2 pi-3 pi-4)
make_keys "${devices[@]}"
rounds=40
write_experiment federated $rounds
sed -i "s/^local-steps = .*/local-steps = 12/" tiny.toml
"$TRIBUTARY" run ./tiny.toml --out undisturbed --quiet >/dev/null
start_coordinator coordinator ./tiny.toml --out run --checkpoint-every 0s
await_port coordinator
for name in "${devices[@]}"; do start_device $name --leave-when-done; done
within $patience "five rounds" has_rounds run 5

# Both sides notice after ten seconds without an answer.
break_link
before=$(rounds_in run)
sleep 12
[ "$(rounds_in run)" -le $((before + 1)) ] || fail "rounds went on without a network"
for name in "${devices[@]}"; do says $name 'dialling again' || fail "$name has not noticed: $(tail -n 2 $name.log)"; done
mend_link
await_rounds "a long break"

# Neither side notices so short a one.
break_link
sleep 2
mend_link
await_rounds "a short break"

# The devices' connections are to a process that is no more.
break_link
sleep 0.3
end coordinator KILL
start_coordinator coordinator --resume run --checkpoint-every 0s
await coordinator '^resuming'
sleep 1
mend_link
await_rounds "a restart behind a broken link"
alive coordinator || fail "the run was too short"

expect_end 0 coordinator
for name in "${devices[@]}"; do expect_end 0 $name; done
expect_same undisturbed run
expect_log run $rounds
expect_all_applied run $rounds 4
