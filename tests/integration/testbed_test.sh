# bench/testbed: real processes over links of given rates measure about those rates, and nothing is left behind. Once
# with network namespaces and once with devices that hold themselves back.
. "$(dirname "$0")/lib.sh"

# The network is large enough to be timed: some pieces each way.
small=(--set model.name=resnet20 --set experiment.rounds=2 --set data.train-limit=100 --set data.test-limit=20
       --set train.local-steps=1 --quiet)

# check HOW FLAG…: two devices at 20 and 5 Mbit/s.
check() {
  local how=$1
  shift
  "$SOURCE/bench/testbed/testbed" --devices 2 --up 20mbit,5mbit "$@" smoke "${small[@]}" >out.txt 2>err.txt ||
    fail "testbed $*: $(cat out.txt err.txt)"
  grep -q "^links: $how" out.txt || fail "expected links by $how, found: $(cat out.txt)"
  grep -q '2 rounds in' out.txt || fail "no two rounds: $(cat out.txt)"
  [ "$(grep -c '^device-[01] ' out.txt)" -eq 2 ] || fail "not two devices: $(cat out.txt)"
  # The columns of ratios, measured over configured.
  awk '/^device-/ { for (i = 7; i <= 12; i += 5) if ($i < 0.75 || $i > 1.25) bad = 1 } END { exit bad }' out.txt ||
    fail "measured rates are not within 25 % of those configured: $(cat out.txt)"
}

check 'held by the devices' --user-space
[ "$(id -u)" -eq 0 ] || skip 'testbed with network namespaces (needs root)'
command -v ip >/dev/null && command -v tc >/dev/null || skip 'testbed with network namespaces (needs iproute2)'
ip netns add "tb$$-probe" 2>/dev/null || skip 'testbed with network namespaces (the system does not let us make any)'
ip netns del "tb$$-probe"
check 'network namespaces' --cpu 0.9,0.5
grep -q '^processors: ' out.txt || fail "nothing is said of processors: $(cat out.txt)"
# They are named after the process that made them.
for space in $(ip netns list | grep -o '^tb[0-9]*-' || true); do
  process=${space#tb}
  kill -0 "${process%-}" 2>/dev/null || fail "namespaces are left: $(ip netns list)"
done
