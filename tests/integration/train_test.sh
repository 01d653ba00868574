# Training, saving, evaluating, continuing: the same seed gives the same file, and a file says what is in it.
. "$(dirname "$0")/lib.sh"

small=(--model resnet8 --data glyphs --train-limit 320 --test-limit 200 --epochs 2 --threads 2 --quiet)
"$TRIBUTARY" train "${small[@]}" --save a.safetensors --json >a.json
"$TRIBUTARY" train "${small[@]}" --save b.safetensors >/dev/null
cmp a.safetensors b.safetensors || fail "the same seed gave different weights"
"$TRIBUTARY" train "${small[@]}" --seed 2 --save c.safetensors >/dev/null
cmp -s a.safetensors c.safetensors && fail "another seed gave the same weights"

# What was reported while training is what the file gives afterwards.
trained=$(grep -E '^  "test_accuracy"' a.json | grep -oE '[0-9.]+')
"$TRIBUTARY" evaluate a.safetensors --test-limit 200 --json >e.json
evaluated=$(grep -E '"accuracy"' e.json | grep -oE '[0-9.]+')
[ "$trained" = "$evaluated" ] || fail "trained to $trained, evaluated $evaluated"

# Going on from saved weights starts from them: with no learning rate to speak of, nothing moves.
"$TRIBUTARY" train --model cnn --train-limit 64 --test-limit 64 --epochs 1 --save d.safetensors --quiet >/dev/null
"$TRIBUTARY" train --model cnn --train-limit 64 --test-limit 64 --epochs 1 --from d.safetensors --lr 1e-60 \
  --save e.safetensors --quiet >/dev/null
cmp d.safetensors e.safetensors || fail "--from did not start from the weights given"

# The other options do something and work together.
for option in "--optimiser adam" "--schedule step --milestones 2,4" "--schedule constant --warmup 3" "--nesterov" \
    "--label-smoothing 0.1" "--augment standard" "--batch 7" "--stem imagenet" "--lr-floor 0.01" "--weight-decay 0.1"; do
  # shellcheck disable=SC2086
  "$TRIBUTARY" train "${small[@]}" $option --save o.safetensors >/dev/null || fail "train $option"
  cmp -s a.safetensors o.safetensors && fail "$option changed nothing"
done

# Plain lines when not a terminal: no control characters.
"$TRIBUTARY" train "${small[@]}" >log.txt 2>&1
grep -q $'[\r\x1b]' log.txt && fail "control characters in a log"

# Threads wait passively, unless the user decides otherwise.
waiting() {
  env "$@" "$TRIBUTARY" train --model mlp --epochs 100000 >waiting.txt 2>&1 &
  local process=$!
  for i in {1..600}; do grep -q 'epoch' waiting.txt && break; sleep 0.1; done
  tr '\0' '\n' <"/proc/$process/environ" | grep -E '^(OMP_WAIT_POLICY|GOMP_SPINCOUNT)=' || true
  kill -KILL $process
  wait $process 2>/dev/null || true
}
unset OMP_WAIT_POLICY GOMP_SPINCOUNT
[ "$(waiting)" = OMP_WAIT_POLICY=passive ] || fail "threads do not wait passively: $(waiting)"
[ "$(waiting OMP_WAIT_POLICY=active)" = OMP_WAIT_POLICY=active ] || fail "the user's policy is overruled"
# And they run soon after they were woken, where the kernel has time slices of a program's own.
if grep -q '^se.slice' /proc/self/sched 2>/dev/null && [ "$(printf '6.12\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.12 ]; then
  "$TRIBUTARY" train --model mlp --epochs 100000 >slice.txt 2>&1 &
  process=$!
  for i in {1..600}; do grep -q 'epoch' slice.txt && break; sleep 0.1; done
  slices=$(sed -nE 's/^se.slice +: +//p' /proc/$process/task/*/sched | sort -u)
  kill -KILL $process
  wait $process 2>/dev/null || true
  [ "$slices" = 100000 ] || fail "time slices of $slices ns"
fi
[ "$(waiting GOMP_SPINCOUNT=7)" = GOMP_SPINCOUNT=7 ] || fail "the user's spin count is overruled"
