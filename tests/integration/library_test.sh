# What is installed is a library: the example, which adds one of each kind, is built against it, and each does what it is for.
. "$(dirname "$0")/lib.sh"

example=$SOURCE/examples/custom_policy
cmake --install "$BUILD" --prefix "$work/prefix" >install.log 2>&1 || fail "install: $(tail -n 5 install.log)"
for path in bin/tributary include/tributary/tributary.h share/doc/tributary/LICENSE \
    share/doc/tributary/docs/library.md share/doc/tributary/examples/custom_policy/main.cc; do
  [ -e "prefix/$path" ] || fail "$path was not installed"
done
prefix/bin/tributary presets >/dev/null || fail "the installed program does not run"
# Nothing but what the public header needs, and nothing of others.
[ "$(find prefix/include -name '*.h' | wc -l)" -le 46 ] || fail "more headers than a small interface has"
others=$(grep -rhE '^#include [<"](torch|ATen|c10|grpc|google|absl|openssl|nlohmann|CLI|fmt)' prefix/include || true)
[ -z "$others" ] || fail "public headers include $others"

# configure FOLDER ARGUMENT…: builds the example there.
configure() {
  local folder=$1
  shift
  cmake -G Ninja -S "$example" -B "$folder" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror" "$@" \
    >configure.log 2>&1 || fail "configuring the example: $(tail -n 20 configure.log)"
  cmake --build "$folder" >build.log 2>&1 || fail "building the example: $(tail -n 30 build.log)"
}
configure installed "-DCMAKE_PREFIX_PATH=$work/prefix"
configure from_build "-DTributary_DIR=$BUILD"
mine=installed/custom_policy

for program in installed/custom_policy from_build/custom_policy; do
  "$program" >"$(dirname $program).txt" || fail "$program failed"
done
cmp installed.txt from_build.txt || fail "the installed library computes something else: $(cat installed.txt from_build.txt)"
cat installed.txt
# seconds TITLE: the virtual time of a run.
seconds() { sed -nE "s/^$1 +[0-9]+ rounds +([0-9.]+) s .*/\1/p" installed.txt; }
longer() { awk -v a="$1" -v b="$2" -v f="$3" 'BEGIN { exit !(a > f * b && b > 0) }'; }
# The first six of an epoch's thirteen steps are of fast devices alone; otherwise every step waits for a slow one.
longer "$(seconds 'sampler ugs')" "$(seconds 'sampler fast-first')" 1.5 || fail "the sampler makes no difference"
# Twelve batches of 32 samples at 20 a second take 19.2 s. A rush of two seconds brings 400, and so all of them.
longer "$(seconds 'stream at a steady rate')" 19.2 1 || fail "a steady stream is too fast"
longer 19.2 "$(seconds 'stream rush-hour')" 1 || fail "the stream does not rush"
# The thirteenth batch is not in it: the rest of that comes after twenty seconds.
"$mine" run "$example/stream.toml" --set experiment.rounds=13 --out rushed --json --quiet --threads 2 >rushed.json || fail "run"
longer "$(sed -nE 's/.*"virtual_seconds": ([0-9.]+).*/\1/p' rushed.json)" 20 1 || fail "the rush does not end: $(cat rushed.json)"

# Of half the bytes, most of a round is half as long.
longer "$(seconds 'dense updates, mean')" "$(seconds 'bf16 updates, median')" 1.4 || fail "the codec makes no difference"
"$mine" run "$example/update.toml" --out updated --quiet --threads 2 >run.txt || fail "run: $(cat run.txt)"
grep -q '^rule = "my-median"' updated/experiment.toml || fail "the rule is not in the experiment as run"
grep -q '^kind = "bf16"' updated/experiment.toml || fail "the codec is not in the experiment as run"

# Sub-networks fit the deadline, which the whole network does not.
longer "$(seconds 'whole network')" "$(seconds 'striped sub-networks')" 1 || fail "the sub-networks are no faster"
"$mine" run "$example/subnetwork.toml" --out striped --quiet --threads 2 >run.txt || fail "run: $(cat run.txt)"
grep -q '^method = "striped"' striped/experiment.toml || fail "the sub-network rule is not in the experiment as run"

# The largest part is 2.2 times as large as an equal one, and its device computes as much longer.
longer "$(seconds "samples by Zipf's law")" "$(seconds 'samples in equal parts')" 1.5 || fail "the partitioner makes no difference"
"$mine" run "$example/partition.toml" --out divided --quiet --threads 2 >run.txt || fail "run: $(cat run.txt)"
grep -q '"zipf"' divided/experiment.toml || fail "the partitioner is not in the experiment as run"

# The network learns the data set.
accuracy() { sed -nE "s/^$1 .* accuracy ([0-9.]+) %/\1/p" installed.txt; }
longer "$(accuracy 'narrow network on stripes')" 80 1 || fail "the network does not learn: $(cat installed.txt)"
"$mine" run "$example/network.toml" --out stripes --quiet --threads 2 >run.txt || fail "run: $(cat run.txt)"
grep -q '^name = "narrow"' stripes/experiment.toml || fail "the network is not in the experiment as run"
grep -q '^set = "stripes"' stripes/experiment.toml || fail "the data set is not in the experiment as run"

# The whole program, under the new names.
"$mine" run "$example/sampler.toml" --set experiment.rounds=12 --out sampled --quiet --threads 2 >run.txt || fail "run: $(cat run.txt)"
grep -q '^method = "fast-first"' sampled/experiment.toml || fail "the sampler is not in the experiment as run"
# The two fast devices alone are asked at first: 200 samples, six batches of 32.
python3 - sampled/events.jsonl <<'PYTHON' || fail "the sampler asks others"
import collections, json, sys
rounds = collections.defaultdict(set)
for line in open(sys.argv[1]):
    event = json.loads(line)
    if "device" in event and "round" in event:
        rounds[event["round"]].add(event["device"])
assert rounds, "no events of devices"
early = set().union(*(rounds[r] for r in range(1, 7)))
late = set().union(*(rounds[r] for r in range(8, 13)))
assert early == {2, 3}, early
assert late == {0, 1}, late
PYTHON
"$mine" run "$example/stream.toml" --set stream.kind=rush-hour:soon --out none >run.txt 2>&1 && fail "a wrong argument was taken"
grep -q "stream 'rush-hour:soon': 'soon' is no period" run.txt || fail "what is wrong with the argument? $(cat run.txt)"
# And not in the program that does not know them.
expect_error "unknown sampling method 'fast-first'" run "$example/sampler.toml"
expect_error "unknown model 'narrow'" run "$example/network.toml" --set data.set=glyphs
expect_error "unknown data set 'stripes'" run "$example/network.toml"
expect_error "stream.kind is 'rush-hour'; this program has no streams of its own" run "$example/stream.toml"
