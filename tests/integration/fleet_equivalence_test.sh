# Four real devices over mutual TLS come to the very weights of four simulated ones.
. "$(dirname "$0")/fleet_lib.sh"

allowed=()  # by the devices' owners
# run_real FOLDER ARGUMENT…: all four to the end.
run_real() {
  local folder=$1
  shift
  port=
  start_coordinator "coordinator-$folder" ./tiny.toml --out "$folder" "$@"
  await_port "coordinator-$folder"
  for name in pi-1 pi-2 pi-3 pi-4; do start_device $name --leave-when-done "${allowed[@]}"; done
  expect_end 0 "coordinator-$folder"
  for name in pi-1 pi-2 pi-3 pi-4; do expect_end 0 $name; done
}

make_keys pi-1 pi-2 pi-3 pi-4
for method in sync-sgd federated; do
  write_experiment $method 20 sequential dense
  "$TRIBUTARY" run ./tiny.toml --out "simulated-$method" --quiet >/dev/null
  run_real "real-$method"
  expect_same "simulated-$method" "real-$method"
  [ "$(evaluations "real-$method" | grep -c '"where":"devices"')" -eq 5 ] || fail "devices have not evaluated"
  expect_log "real-$method" 20
  expect_all_applied "real-$method" 20 4
  grep -q '"seconds"' "real-$method/summary.json" || fail "the summary: $(cat "real-$method/summary.json")"
done

# Sanitizers make everything slow: one case of each kind.
cut_methods=(sync-sgd federated) rules_of=("trimmed-mean dense" "centred-clipping top-k" "trusted dense") rates=(0 100)
compressed=("sync-sgd top-k layerwise" "sync-sgd int8 optimal" "sync-sgd fp16 layerwise" "federated adaptive-top-k optimal")
[ "$thorough" -eq 1 ] || cut_methods=(federated) rules_of=("centred-clipping top-k" "trusted dense") rates=(100) compressed=("sync-sgd top-k layerwise")

# However transfers are cut, simulated or real: the same weights.
for method in "${cut_methods[@]}"; do
  write_experiment $method 8 sequential dense
  "$TRIBUTARY" run ./tiny.toml --out "whole-$method" --quiet >/dev/null
  for strategy in layerwise ibatch optimal; do
    "$TRIBUTARY" run ./tiny.toml --set transfers.strategy=$strategy --out "sim-$method-$strategy" --quiet >/dev/null
    expect_same "whole-$method" "sim-$method-$strategy"
  done
  for strategy in layerwise optimal; do
    run_real "cut-$method-$strategy" --set transfers.strategy=$strategy --set transfers.largest-segment=100kB
    expect_same "whole-$method" "cut-$method-$strategy"
    expect_all_applied "cut-$method-$strategy" 8 4
    grep -q '"planned_ns":[1-9]' "cut-$method-$strategy/events.jsonl" || fail "no plan in the log of $strategy"
    grep -q '"overlap":0\.[0-9]' "cut-$method-$strategy/events.jsonl" || fail "nothing was hidden by $strategy"
  done
done

# Compressed updates too, whatever is remembered of them and however they are cut.
for setting in "${compressed[@]}"; do
  read -r method kind strategy <<<"$setting"
  write_experiment $method 8 sequential $kind
  "$TRIBUTARY" run ./tiny.toml --out "compressed-$kind" --quiet >/dev/null
  run_real "real-$kind" --set transfers.strategy=$strategy
  expect_same "compressed-$kind" "real-$kind"
  down=$(sed -n 's/.*"bytes_down": \([0-9]*\).*/\1/p' "real-$kind/summary.json" | head -n 1)
  up=$(sed -n 's/.*"bytes_up": \([0-9]*\).*/\1/p' "real-$kind/summary.json" | head -n 1)
  [ "$up" -lt $((down * 9 / 10)) ] || fail "$kind sent $up bytes up and $down down"
done

# Rules that read all updates back from the journal, once or several times, plain or compressed; one trains at the coordinator too.
for pair in "${rules_of[@]}"; do
  read -r rule kind <<<"$pair"
  write_experiment federated 8 sequential $kind
  set_rule=(--set aggregation.rule=$rule)
  [ $rule != trusted ] || set_rule+=(--set aggregation.trusted-samples=16)
  "$TRIBUTARY" run ./tiny.toml "${set_rule[@]}" --out "$rule-$kind" --quiet >/dev/null
  run_real "real-$rule-$kind" "${set_rule[@]}"
  expect_same "$rule-$kind" "real-$rule-$kind"
done

# Samples that arrive over time, and samples that devices share: which are learnt from in which round is the same.
write_experiment sync-sgd 8 optimal adaptive-top-k
printf '[injection]\ndevices = 0.5\nshare = 0.5\n' >>tiny.toml
allowed=(--allow samples)
for rate in "${rates[@]}"; do
  set_rate=(--set fleet.group.all.stream-rate=$rate)
  "$TRIBUTARY" run ./tiny.toml "${set_rate[@]}" --out "shared-$rate" --quiet >/dev/null
  run_real "real-shared-$rate" "${set_rate[@]}"
  expect_same "shared-$rate" "real-shared-$rate"
  for folder in "shared-$rate" "real-shared-$rate"; do
    grep '"type":"round-finished"' "$folder/events.jsonl" | sed 's/.*"bytes_injected":\([0-9]*\).*/\1/' >"$folder.injected"
  done
  cmp -s "shared-$rate.injected" "real-shared-$rate.injected" ||
    fail "bytes of samples differ: $(paste "shared-$rate.injected" "real-shared-$rate.injected" | tr '\n' ';')"
done
# Without their owners' consent nobody takes part.
port=
start_coordinator refused ./tiny.toml --out refused
await_port refused
start_device pi-1
await pi-1 'takes samples from devices, which this device does not allow.*--allow samples'
