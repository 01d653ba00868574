# `tributary run` and `tributary presets`: the folder a run leaves, the same digest for every pool, Ctrl-C, and every
# mistake answered with file, line, what is allowed and the nearest name.
. "$(dirname "$0")/lib.sh"

expect_output '^smoke +a tiny run' presets
expect_output '"name": "default"' presets --json
"$TRIBUTARY" presets smoke >mine.toml
"$TRIBUTARY" run smoke --threads 1 --quiet >one.txt
"$TRIBUTARY" run ./mine.toml --threads 2 --quiet >two.txt
"$TRIBUTARY" run runs/smoke-1/experiment.toml --threads 4 --quiet >four.txt
digest=$(grep '^digest ' one.txt)
for other in two.txt four.txt; do grep -q "^$digest$" $other || fail "digests differ: $digest, $(cat $other)"; done
for file in experiment.toml events.jsonl rounds.csv summary.json weights.safetensors; do
  [ -s "runs/smoke-1/$file" ] || fail "the run folder has no $file"
done
[ -d runs/smoke-1-2 ] || fail "a second run did not get a folder of its own"
expect_output 'cnn on glyphs: accuracy' evaluate runs/smoke-1/weights.safetensors --test-limit 50
expect_output '"ended_by": "rounds"' run smoke --json --out j --threads 1
expect_output '^round 3/3 .* 4/4 applied .* accuracy' run smoke --out plain
expect_output '^ +0 +slow +3 +0 ' run smoke --out table
expect_output '^time and bytes are those of resnet18; cnn was trained in its place' run smoke --set model.compute-as=resnet18 --out as

# An experiment against itself without something: two folders, a comparison, a picture; neither in the file nor with --alone.
cat mine.toml - >pair.toml <<'TOML'
[compression]
kind = "top-k"
ratio = 0.1
[against]
name = "dense"
set = ["compression="]
TOML
expect_output '^final accuracy ' run ./pair.toml --out pair --no-store
grep -qE '^time to [0-9.]+ % .*' out.txt || fail "no time to target: $(cat out.txt)"
grep -qE '^bytes to [0-9.]+ % .* [0-9.]+× fewer$' out.txt || fail "no fewer bytes: $(cat out.txt)"
[ -s pair/against.svg ] && [ -s pair-dense/weights.safetensors ] || fail "a run of the pair left nothing"
grep -q '^kind = "dense"' pair-dense/experiment.toml || fail "the other run was compressed too"
cmp -s pair-dense/weights.safetensors runs/smoke-1/weights.safetensors || fail "without compression it is not the plain run"
! grep -q against pair/experiment.toml || fail "a run's folder has an experiment for two"
"$TRIBUTARY" run ./pair.toml --json --out pj --no-store >pair.json 2>/dev/null
python3 - <<'PY' || fail "wrong JSON of a pair: $(cat pair.json)"
import json
pair = json.load(open("pair.json"))
runs = pair["comparison"]["runs"]
assert pair["experiment"] == "smoke" and pair["against"]["experiment"] == "smoke-dense", pair["against"]["experiment"]
assert runs[0]["name"] == "pj-dense" and runs[1]["name"] == "pj", runs
assert runs[0]["buffered"] == 0
first, second = (run["to_target"] for run in runs)
assert abs(second["fewer_bytes"] - first["bytes"] / second["bytes"]) < 1e-9 and second["fewer_bytes"] > 1
PY
"$TRIBUTARY" run ./pair.toml --alone --out alone --no-store --quiet >alone.txt
cmp -s alone/weights.safetensors pair/weights.safetensors || fail "alone it is another run"
[ ! -e alone-dense ] || fail "--alone ran both"
expect_error 'pair.toml: \[against\]: --set train.bach=3: unknown key' run ./pair.toml --set 'against.set=["train.bach=3"]'
expect_error 'removes its key, which the experiment does not have' run smoke --set compresion=

# Ctrl-C ends after the round and writes the folder.
mkfifo lines
"$TRIBUTARY" run smoke --set experiment.rounds=100000 --out stopped >lines 2>err.txt &
process=$!
exec 3<lines
while read -r line <&3; do
  case "$line" in "round 2/"*) break ;; esac
done
kill -INT "$process"
cat <&3 >/dev/null
wait "$process" || fail "exit code $? after Ctrl-C: $(cat err.txt)"
grep -q '"ended_by": "interrupted"' stopped/summary.json || fail "the interrupted run left no summary"

# Mistakes.
expect_error "unknown preset 'smoek'; did you mean 'smoke'\?" run smoek
expect_error 'none.toml' run ./none.toml
expect_error "unknown key in \[train\] 'btach'; did you mean 'batch'\?" run smoke --set train.btach=3
expect_error "unknown method 'fedarated'; did you mean 'federated'\?" run smoke --set train.method=fedarated
expect_error "unknown model 'cnnn'; did you mean 'cnn'\?" run smoke --set model.name=cnnn
expect_error 'experiment.target-accuracy is 1.5; allowed: a number above 0 and at most 1' run smoke --set experiment.target-accuracy=1.5
expect_error 'compute: found nan; allowed' run smoke --set fleet.group.slow.compute=nan
sed 's/^count = 2/count = 0/' mine.toml >zero.toml
expect_error 'zero.toml:[0-9]+: fleet.group.0.count is 0; allowed: a whole number from 1' run ./zero.toml
printf '0,0.5\n1,0.7\n' >trace.csv
sed 's/^count = 2/&\navailability = { trace = "trace.csv" }/' mine.toml >trace.toml
expect_error 'trace.toml:[0-9]+: .*trace ends after 1s' run ./trace.toml
expect_error 'has 1.00 MB of memory, but training cnn' run smoke --set 'fleet.group.slow.memory="1MB"'
expect_error 'the run folder plain exists already' run smoke --out plain

# Cuts.
sed -e 's/^method = "federated"/method = "split"/' -e '/^local-steps/d' mine.toml >split.toml
expect_error "\[split\] cut: cnn has no layer 'polo1'; did you mean 'pool1'\? It can be cut after: conv1, relu1, pool1, conv2" run ./split.toml --set split.cut=polo1
expect_error "\[split\] cut: cnn cannot be cut after 'fc2': it is the last layer" run ./split.toml --set split.cut=fc2
expect_error "\[split\] tail: cnn has no layer 'fc9'" run ./split.toml --set split.cut=conv1 --set split.tail=fc9
expect_error "which does not come after the cut 'pool1'" run ./split.toml --set split.cut=pool1 --set split.tail=conv1
expect_error "split.cut is only valid with method = \"split\"" run smoke --set split.cut=pool1
