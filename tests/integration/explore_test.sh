# Exploring dropout vectors: a front that is what it must be, the same for every number of threads and after Ctrl-C and
# --resume, and words for what cannot be explored or gone on with.
. "$(dirname "$0")/lib.sh"

tiny=(explore mlp --data glyphs --train-limit 600 --cost macs --population 10 --batch 8 --steps 2 --screening-steps 1
  --samples 64 --snapshot-steps 12)

# mlp has one group of 128 channels, so that the search ends by itself: all its sixteen widths have been tried.
"$TRIBUTARY" "${tiny[@]}" --repeats 1 --threads 1 --out a.json --plot a.svg >a.txt 2>a.err || fail "explore: $(cat a.err)"
grep -q '^done after ' a.txt || fail "not said: $(cat a.txt)"
grep -qE 'The front is better over [0-9]+ % of the range \(by more' a.txt || fail "no comparison: $(cat a.txt)"
grep -qE 'evaluated \(which saved [0-9]+ % of the steps\)' a.txt || fail "not said what was saved: $(cat a.txt)"
grep -q '</svg>' a.svg || fail "no picture"
grep -q $'[\r\x1b]' a.txt a.err && fail "control characters in a log"
for key in model groups front uniform comparison cost_model untrained scaling seed input; do
  grep -q "^  \"$key\":" a.json || fail "the front has no '$key'"
done

# The front: sorted by cost, each better than the one before (the full network, the last, excepted), and the full one last.
check_front() {
  awk '/^  "front"/ { inside = 1 } /^  \]/ { if (inside) exit }
    inside && /"macs"/ { gsub(/[",:]/, ""); if (n > 0 && $2 + 0 <= macs) { print "not sorted"; bad = 1 } macs = $2 + 0; n++ }
    inside && /"convergence"/ { gsub(/[",:]/, ""); loss[n] = $2 + 0 }
    END { for (i = 2; i < n; i++) if (loss[i] >= loss[i - 1]) { print "dominated"; bad = 1 }
          if (n < 2) { print "only " n " points"; bad = 1 } exit bad }' "$1" || fail "the front in $1 is not one: $(cat "$1")"
}
check_front a.json

# Measured times are never the same twice; all else is, for any number of threads.
without_times() { grep -vE '"(time_ms|fixed_s|per_mac_s|per_byte_s)"' "$1"; }
"$TRIBUTARY" "${tiny[@]}" --repeats 1 --threads 2 --out b.json --quiet >/dev/null
cmp <(without_times a.json) <(without_times b.json) || fail "another number of threads gave another front"

# A network without norms needs its filters scaled, and 'auto' sees to it.
"$TRIBUTARY" "${tiny[@]}" --repeats 1 --scaling inverse --out inverse.json --quiet >/dev/null
cmp <(without_times a.json) <(without_times inverse.json) || fail "auto is not inverse for a network without norms"
"$TRIBUTARY" "${tiny[@]}" --repeats 1 --scaling none --out none-scaled.json --quiet >/dev/null
cmp -s <(without_times a.json) <(without_times none-scaled.json) && fail "scaling filters changes nothing"
grep -q '^  "scaling": "inverse"' a.json || fail "the front does not say how filters were scaled"

# And devices that train the first channels need a front that was explored with those.
grep -q '^  "channels": "random"' a.json || fail "the front does not say which channels were kept"
"$TRIBUTARY" "${tiny[@]}" --repeats 1 --channels first --out first.json --quiet >/dev/null
grep -q '^  "channels": "first"' first.json || fail "the front does not say that the first channels were kept"
cmp -s <(without_times a.json | grep -v channels) <(without_times first.json | grep -v channels) && fail "--channels first changes nothing"
check_front first.json
expect_error 'first.json.state: it is the state of another exploration: its channels is first, and random was asked for' \
  "${tiny[@]}" --resume --out first.json

# So many generations and no more, in one go or two.
"$TRIBUTARY" "${tiny[@]}" --repeats 0 --generations 2 --out g.json --json >g.txt
grep -q '"generations": 2' g.txt || fail "not two generations: $(cat g.txt)"
"$TRIBUTARY" "${tiny[@]}" --repeats 0 --generations 1 --out g1.json --quiet >/dev/null
"$TRIBUTARY" "${tiny[@]}" --repeats 0 --generations 2 --resume --out g1.json --quiet >/dev/null
cmp <(without_times g.json) <(without_times g1.json) || fail "two generations are not one and one"

# Costs can be another device's: nothing is measured, and the same again is the same to the last digit.
"$TRIBUTARY" "${tiny[@]/macs/time}" --repeats 0 --profile 300M --out p.json --quiet >/dev/null || fail "--profile RATE"
"$TRIBUTARY" "${tiny[@]/macs/time}" --repeats 0 --profile p.json --out p2.json --quiet >/dev/null || fail "--profile FILE"
cmp p.json p2.json || fail "a front's cost model is not the one it was explored with"
awk '/"macs":/ { gsub(/,/, ""); macs = $2 } /"time_ms":/ { gsub(/,/, "")
  if (macs > 0 && ($2 / (1e3 * 3 * 8 * macs / 300e6) - 1) ^ 2 > 1e-18) exit 1 }' p.json || fail "not the time of 300M MAC/s"

# Ctrl-C in the first generation: what was found is written, and going on leads to the front of a run that was not stopped.
slow=(explore mlp --data glyphs --train-limit 600 --cost macs --population 10 --batch 8 --steps 60 --screening-steps 1
  --samples 64 --snapshot-steps 12 --repeats 0 --threads 2)
"$TRIBUTARY" "${slow[@]}" --out whole.json --quiet >/dev/null
"$TRIBUTARY" "${slow[@]}" --out c.json >c.txt 2>c.err &
process=$!
while kill -0 "$process" 2>/dev/null && ! [ -e c.json.state ]; do sleep 0.05; done
kill -INT "$process"
wait "$process" || fail "exit code $? after Ctrl-C: $(cat c.err)"
grep -qE '^interrupted (after|before) ' c.txt || fail "not said: $(cat c.txt)"
"$TRIBUTARY" "${slow[@]}" --resume --out c.json --json >c2.json || fail "--resume"
grep -q '"interrupted": false' c2.json || fail "$(cat c2.json)"
check_front c.json
cmp <(without_times whole.json) <(without_times c.json) || fail "interrupted and resumed, it gave another front"

# What cannot be gone on with, and other mistakes.
expect_error 'c.json.state is there from an exploration before; go on from it with --resume' "${slow[@]}" --out c.json
expect_error 'c.json.state: it is the state of another exploration: its seed is 1, and 2 was asked for' \
  "${slow[@]}" --seed 2 --resume --out c.json
expect_error 'none.json.state' "${slow[@]}" --resume --out none.json
head -c 2000 c.json.state >d.json.state
expect_error 'd.json.state' "${slow[@]}" --resume --out d.json
printf 'x' | dd of=c.json.state bs=1 seek=$(($(stat -c %s c.json.state) - 100)) conv=notrunc 2>/dev/null
expect_error 'c.json.state: its checksum is wrong' "${slow[@]}" --resume --out c.json
expect_error "did you mean 'resnet8'" explore resnet80 --out e.json
expect_error "unknown cost 'mac'; did you mean 'macs'" explore resnet8 --cost mac --out e.json
expect_error '--profile fast: neither a file nor a rate' explore mlp --profile fast --out e.json
expect_error '--profile 0: allowed: at least 1 MAC' explore mlp --profile 0 --out e.json
expect_error "c.txt: it is not JSON" explore mlp --profile c.txt --out e.json
expect_error "unknown choice of channels 'frist'; did you mean 'first'" explore mlp --channels frist --out e.json
expect_error "unknown scaling 'invers'; did you mean 'inverse'" explore mlp --scaling invers --out e.json
expect_error 'vectors of the population must be from 10 to' explore resnet8 --population 3 --out e.json
expect_error 'has 20 training samples' explore mlp --data glyphs --train-limit 20 --out e.json
expect_error '/nowhere/' explore mlp --out /nowhere/e.json
expect_error 'out is required' explore mlp
expect_error 'budget ended before the full network' "${slow[@]}" --budget 0.001 --out f.json
[ -e f.json ] && fail "a front without the full network was written"
true
