# Four real devices over mutual TLS come to the very weights of four simulated ones.
. "$(dirname "$0")/fleet_lib.sh"

make_keys pi-1 pi-2 pi-3 pi-4
for method in sync-sgd federated; do
  write_experiment $method 20
  "$TRIBUTARY" run ./tiny.toml --out "simulated-$method" --quiet >/dev/null
  port=
  start_coordinator "coordinator-$method" ./tiny.toml --out "real-$method"
  await_port "coordinator-$method"
  for name in pi-1 pi-2 pi-3 pi-4; do start_device $name --leave-when-done; done
  expect_end 0 "coordinator-$method"
  for name in pi-1 pi-2 pi-3 pi-4; do expect_end 0 $name; done
  expect_same "simulated-$method" "real-$method"
  [ "$(evaluations "real-$method" | grep -c '"where":"devices"')" -eq 5 ] || fail "devices have not evaluated"
  expect_log "real-$method" 20
  expect_all_applied "real-$method" 20 4
  grep -q '"seconds"' "real-$method/summary.json" || fail "the summary: $(cat "real-$method/summary.json")"
done
