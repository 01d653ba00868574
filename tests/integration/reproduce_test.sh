# `tributary reproduce`: the list; one that is stopped in the middle and goes on where it was; and a custom study, in one
# piece, killed and gone on with, and in shards, always with the same table.
. "$(dirname "$0")/lib.sh"

expect_output '^heterogeneity +what a slow device does' reproduce
expect_error "unknown reproduction 'heterogenity'; did you mean 'heterogeneity'\?" reproduce heterogenity

mkfifo lines
"$TRIBUTARY" reproduce heterogeneity --seeds 1 --threads 1 --out out 2>lines >/dev/null &
process=$!
exec 3<lines
while read -r line <&3; do
  case "$line" in *": done"*) break ;; esac
done
kill -INT "$process"
cat <&3 >/dev/null
wait "$process" || fail "exit code $? after Ctrl-C"
finished=$(find out/results -name '*.json' | wc -l)
[ "$finished" -ge 1 ] && [ "$finished" -lt 7 ] || fail "$finished results after an interruption"
[ -s out/table.md ] || fail "no table of what was finished"

"$TRIBUTARY" reproduce heterogeneity --seeds 1 --out out --json >result.json 2>err.txt
[ "$(grep -c 'kept from before' err.txt)" -eq "$finished" ] || fail "finished runs were made again: $(cat err.txt)"
for file in summary.json table.md curves.svg; do [ -s "out/$file" ] || fail "no $file"; done
grep -q '"both-16"' result.json || fail "no arm both-16 in $(cat result.json)"

cat >mine.toml <<'END'
schema = 1
name = "mine"
preset = "smoke"
seeds = 2
metric = [{ name = "accuracy", percent = true }, { name = "seconds per round", better = "lower", decimals = 3 }]
comparison = [{ name = "slow-down", metric = "seconds per round", baseline = "batch-4" }]

[[axis.batch]]
name = "4"
set = ["train.batch=4"]

[[axis.batch]]
name = "8"
set = ["train.batch=8"]

[[axis.batch]]
name = "64"
set = ["train.batch=64"]

[[arm]]
name = "batch-{batch}"
over = ["batch"]
END
same() { # same FOLDER: as the whole, to the byte
  local file
  for file in summary.json table.md curves.svg; do cmp "whole/$file" "$1/$file" || fail "$1/$file is another"; done
}
"$TRIBUTARY" reproduce mine.toml --threads 1 --out whole >whole.txt 2>/dev/null
grep -q 'batch-64' whole.txt || fail "no arm batch-64 in $(cat whole.txt)"

"$TRIBUTARY" reproduce mine.toml --threads 2 --out killed 2>lines >/dev/null &
process=$!
exec 3<lines
while read -r line <&3; do
  case "$line" in *": done"*) break ;; esac
done
kill -KILL "$process"
wait "$process" 2>/dev/null || true
exec 3<&-
kept=$(find killed/results -name '*.json' | wc -l)
[ "$kept" -ge 1 ] || fail "no result after a kill"
"$TRIBUTARY" reproduce mine.toml --threads 3 --out killed >/dev/null 2>err.txt
[ "$(grep -c 'kept from before' err.txt)" -eq "$kept" ] || fail "finished runs were made again: $(cat err.txt)"
same killed

"$TRIBUTARY" reproduce mine.toml --shard 1/2 --out a >shard.txt 2>/dev/null
[ ! -s shard.txt ] && [ ! -e a/table.md ] || fail "a shard has a table"
expect_error "3 of 6 runs have no result in any folder, the first of them arm 'batch-8', seed 1" reproduce mine.toml --merge a --out merged
"$TRIBUTARY" reproduce mine.toml --shard 2/2 --out b >/dev/null 2>&1
"$TRIBUTARY" reproduce mine.toml --merge a b --out merged >merged.txt 2>/dev/null
same merged
diff <(sed s/merged/whole/ merged.txt) whole.txt || fail "a merged table is another"

expect_error "--shard is '3/2'; allowed: I/N with I from 1 to N, like 2/3" reproduce mine.toml --shard 3/2
sed 's/seeds = 2/seds = 2/' mine.toml >typo.toml
expect_error "typo.toml:4: unknown section 'seds'; did you mean 'seeds'\?" reproduce typo.toml
expect_error 'nowhere.toml' reproduce nowhere.toml
