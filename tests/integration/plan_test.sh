# tributary plan and profile: a profile measured here is planned, the JSON has the agreed form, bad profiles are refused.
source "$SOURCE/tests/integration/lib.sh"

"$TRIBUTARY" profile lenet5 --input 1x28x28 --batch 4 --repeats 2 --threads 1 --link 20Mbit/s --setup 2ms --out p.json
grep -q '"setup_ms": 2.0' p.json || fail "the profile lacks its set-up: $(head -3 p.json)"
expect_output '^optimal ' plan p.json --plot p.svg
grep -q '</svg>' p.svg || fail "no picture"
"$TRIBUTARY" plan p.json --json | tr -d ' \n' >plan.json
for strategy in sequential layerwise ibatch optimal; do
  grep -qE "\"$strategy\":\{\"forward\":\{\"segments\":\[\[0,[0-9]+\].*\"finish_ms\":[0-9.]+\},\"backward\":" plan.json ||
    fail "$strategy is not in the plan: $(cat plan.json)"
done
# Backward segments in push order: the first holds the last layer.
grep -qE '"layerwise":.*"backward":\{"segments":\[\[4,4\],\[3,3\],\[2,2\],\[1,1\],\[0,0\]\]' plan.json ||
  fail "backward segments are not in push order: $(cat plan.json)"

# By hand: set-up 1; pulls 1 and 4; forward 6 and 1. One segment: 1 + 5 + 7 = 13. Two: the second arrives at 7, while
# the first layer computes from 2 to 8; so 9. Backward all zero but the set-up.
cat >hand.json <<'END'
{"setup_ms": 1, "layers": [
  {"name": "a", "pull_ms": 1, "forward_ms": 6, "backward_ms": 0, "push_ms": 0},
  {"name": "b", "pull_ms": 4, "forward_ms": 1, "backward_ms": 0, "push_ms": 0}]}
END
"$TRIBUTARY" plan hand.json --strategy optimal --json | tr -d ' \n' >hand.out
[ "$(cat hand.out)" = '{"strategies":{"optimal":{"forward":{"segments":[[0,0],[1,1]],"finish_ms":9.0},"backward":{"segments":[[0,1]],"finish_ms":1.0},"iteration_ms":10.0}}}' ] ||
  fail "planned by hand: $(cat hand.out)"

layer='"pull_ms": 1, "forward_ms": 1, "backward_ms": 1'
bad() { echo "$2" >bad.json; expect_error "$1" plan bad.json; }
bad "not JSON" '{'
bad "no layers" '{"setup_ms": 1, "layers": []}'
bad "'push_ms' is -1" "{\"setup_ms\": 1, \"layers\": [{$layer, \"push_ms\": -1}]}"
bad "not JSON" "{\"setup_ms\": 1, \"layers\": [{$layer, \"push_ms\": NaN}]}"
bad "layer 0 has no 'push_ms'" "{\"setup_ms\": 1, \"layers\": [{$layer}]}"
bad "'layers'" '{"setup_ms": 1, "layers": 7}'
bad "did you mean 'push_ms'|push_ms" "{\"setup_ms\": 1, \"layers\": [{$layer, \"pushms\": 1}]}"
expect_error "optimal" plan hand.json --strategy optimum
expect_error "max-segment needs layers" plan hand.json --max-segment 1000
expect_error "absent.json" plan absent.json
expect_error "link" profile lenet5 --link 0bit/s

# A million layers: an answer in seconds.
awk 'BEGIN { printf "{\"setup_ms\":1,\"layers\":[";
  for (i = 0; i < 1000000; ++i) printf "%s{\"pull_ms\":%d,\"forward_ms\":%d,\"backward_ms\":1,\"push_ms\":2}", i ? "," : "", i % 13, i % 11;
  printf "]}" }' >many.json
timeout 120 "$TRIBUTARY" plan many.json >many.out || fail "a million layers: exit code $?"
grep -q '^optimal ' many.out || fail "a million layers: $(cat many.out)"
