# `tributary runs` and `compare`: what runs record, how they are called, what a kill leaves, and every mistake in words.
. "$(dirname "$0")/lib.sh"
unset TRIBUTARY_STORE

expect_output 'there is no run store runs/runs.sqlite' runs
"$TRIBUTARY" run smoke --quiet --threads 1 >/dev/null 2>err.txt || fail "$(cat err.txt)"
[ ! -s err.txt ] || fail "a run that was recorded said: $(cat err.txt)"
"$TRIBUTARY" presets smoke | sed -e 's/"federated"/"sync-sgd"/' -e '/^local-steps/d' >sync.toml
"$TRIBUTARY" run ./sync.toml --quiet --threads 1 --seed 2 >/dev/null
"$TRIBUTARY" run smoke --quiet --threads 1 --no-store >/dev/null
expect_output '^ +2 +smoke-2 +sync-sgd +cnn +glyphs +4 +3/3 +[0-9.]+ % .* finished *$' runs
expect_output '^ +1 +smoke-1 +federated ' runs
[ "$("$TRIBUTARY" runs --json | grep -c '"name"')" -eq 2 ] || fail "the list has other runs"
[ "$("$TRIBUTARY" runs --limit 1 --json | grep -c '"name"')" -eq 1 ] || fail "--limit was not kept"

# The store says what the folder does.
field() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$2" | head -n 1; }
"$TRIBUTARY" runs show smoke-1 --json >show.json
for key in accuracy bytes_down bytes_up rounds seed; do
  [ "$(field $key show.json)" = "$(field $key runs/smoke-1/summary.json)" ] || fail "$key: $(field $key show.json)"
done
[ "$(field seconds show.json)" = "$(field virtual_seconds runs/smoke-1/summary.json)" ] || fail "the time is another"
expect_output '^ +0 +slow +3 +0 ' runs show last
expect_output '^run 2, smoke-2: sync-sgd of cnn on glyphs, 4 devices' runs show ./runs/smoke-2
# Another file, and the folders taken in again, give the same.
expect_output 'smoke-1 is run 1' runs import runs/smoke-1 runs/smoke-2 --store again.sqlite
"$TRIBUTARY" runs show smoke-1 --json --store again.sqlite >again.json
for file in show.json again.json; do grep -v '_unix"' $file >$file.plain; done
cmp show.json.plain again.json.plain || fail "an imported run is another one"
TRIBUTARY_STORE=again.sqlite expect_output 'forgot run 2, smoke-2; its folder stays' runs remove smoke-2
[ -d runs/smoke-2 ] || fail "a folder was removed"
expect_error "unknown run 'smoke-2'; did you mean 'smoke-1'" runs show smoke-2 --store again.sqlite

# Compared.
expect_output '^smoke-2 +sync-sgd ' compare 1 last
expect_output '"target": 0.01' compare smoke-1 runs/smoke-2 --target 0.01 --plot both.svg --json
grep -q 'smoke-2 (sync-sgd)' both.svg || fail "the picture lacks a run"
expect_output '^smoke-1 +federated +never +– ' compare smoke-1 --target 1
expect_output '^smoke-1 ' compare runs/smoke-1 --store none.sqlite
expect_error "several runs begin with 'smoke'" compare smoke
expect_error "unknown run 'smok-1'; did you mean 'smoke-1'" compare smok-1
expect_error "'x' is no run's folder, and there is no run store none.sqlite" compare x --store none.sqlite
expect_error '--target is an accuracy above 0' compare 1 --target 80

# Killed in the middle of it: what was written is there, the file is sound, and the run has died.
"$TRIBUTARY" run smoke --set experiment.rounds=1000000 --out killed --quiet >/dev/null 2>&1 &
process=$!
for _ in $(seq 200); do
  "$TRIBUTARY" runs show killed --json >running.json 2>/dev/null && [ "$(field rounds running.json)" -gt 2 ] && break
  sleep 0.1
done
[ "$(field state running.json)" = running ] || fail "a run that goes on is $(field state running.json)"
expect_error 'is active; stop it first' runs remove killed
kill -KILL "$process"
wait "$process" 2>/dev/null || true
"$TRIBUTARY" runs show killed --json >dead.json
[ "$(field state dead.json)" = died ] || fail "a killed run is $(field state dead.json)"
[ "$(field rounds dead.json)" -ge "$(field rounds running.json)" ] || fail "rounds were lost"
logged=$(grep -c '"type":"round-finished"' killed/events.jsonl)
[ "$(field rounds dead.json)" -le "$logged" ] || fail "the store has rounds that were not run"
if command -v sqlite3 >/dev/null; then
  [ "$(sqlite3 runs/runs.sqlite 'PRAGMA integrity_check')" = ok ] || fail "the store is damaged"
fi
"$TRIBUTARY" run smoke --quiet --threads 1 --seed 3 >/dev/null
expect_output '^ +4 +smoke-3 .* finished' runs
"$TRIBUTARY" runs import killed >/dev/null
[ "$("$TRIBUTARY" runs show killed --json | sed -n 's/^  "rounds": \([0-9]*\).*/\1/p')" = "$logged" ] || fail "the import lacks rounds"

# Files that are no store, and places where none can be.
printf 'no store at all, but long enough to be looked at: %0200d' 0 >text.sqlite
expect_error 'is damaged, or is not a run store .* runs import' runs --store text.sqlite
expect_error 'is damaged, or is not a run store' run smoke --store text.sqlite --out a
[ ! -e a ] || fail "a run began without its store"
mkdir locked && : >locked/runs
(cd locked && "$TRIBUTARY" run smoke --quiet --threads 1 --out out >/dev/null 2>../err.txt) || fail "a run needs a store: $(cat err.txt)"
grep -q 'this run will not be recorded: ' err.txt || fail "nothing was said: $(cat err.txt)"
