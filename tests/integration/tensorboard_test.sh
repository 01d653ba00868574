# Event files for TensorBoard and metrics for Prometheus, read with TensorBoard's own reader and the parser of Prometheus'
# Python client: every value is the one in rounds.csv.
. "$(dirname "$0")/lib.sh"

"$SOURCE/scripts/python" fetch || skip "tensorboard (without Python's tools; see above)"
check() { "$SOURCE/scripts/python" run "$SOURCE/tests/integration/tensorboard_tools.py" "$@" || fail "tensorboard_tools.py $*"; }

"$TRIBUTARY" run smoke --quiet --threads 2 --out plain --tensorboard boards --metrics-file plain.prom >/dev/null
check run boards/plain plain
check metrics plain.prom plain
# Streams have buffers, devices that choose keep a share, and transfers hide.
"$TRIBUTARY" run smoke --quiet --threads 2 --out streams --tensorboard boards --metrics-file streams.prom \
  --set 'fleet.group.slow.stream-rate=20' --set 'fleet.group.fast.stream-rate=40' --set transfers.strategy=layerwise >/dev/null
check run boards/streams streams
check metrics streams.prom streams
"$TRIBUTARY" run smoke --quiet --threads 2 --out kept --tensorboard boards --set dropout.method=heterofl --set fleet.deadline=100ms --set train.learning-rate=0.01 >/dev/null
check run boards/kept kept
# A run that diverges is evaluated twice in its last round; the second values are those of its weights.
"$TRIBUTARY" run smoke --quiet --threads 2 --out returned --tensorboard boards --set dropout.method=heterofl --set fleet.deadline=100ms >/dev/null
check run boards/returned returned
# As a server would collect it, from a run that goes on.
: >served.log
(umask 077 && echo 0123456789abcdef >token.txt)
"$TRIBUTARY" run smoke --quiet --out served --dashboard --dashboard-token token.txt --set experiment.rounds=100000 >served.log 2>&1 &
run=$!
for i in $(seq 600); do if grep -qE '^dashboard at|built without' served.log; then break; fi; sleep 0.1; done
if grep -q 'built without' served.log; then
  [ "${CI:-}" != true ] || fail "nothing may be skipped in CI: $(cat served.log)"
else
  check served "$(sed -n 's/^dashboard at //p' served.log)" 4 token.txt
  kill -INT $run
  wait $run || fail "the run that was scraped: $(cat served.log)"
fi
# A second run of a name has a folder of its own.
"$TRIBUTARY" run smoke --quiet --threads 2 --out again/plain --tensorboard boards >/dev/null
check run boards/plain-2 again/plain
"$TRIBUTARY" train --model mlp --train-limit 100 --test-limit 50 --epochs 3 --json --quiet --tensorboard boards >train.json
check train boards/mlp-glyphs-1 train.json
expect_error 'cannot make the folder for TensorBoard' run smoke --tensorboard train.json --out x
expect_error 'cannot write none/x.prom' run smoke --metrics-file none/x.prom --out x
