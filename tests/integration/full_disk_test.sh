# A full disk while saving: a clear error, exit code 2, and the old file stays as it was. A full disk while recording: the
# run goes on to its end, and says that it was not recorded.
. "$(dirname "$0")/lib.sh"

mkdir disk
run='
  mount -t tmpfs -o size=256k tmpfs disk || exit 99
  printf old >disk/m.safetensors
  code=0
  "$TRIBUTARY" train --model cnn --train-limit 64 --test-limit 10 --epochs 1 --save disk/m.safetensors --quiet 2>err.txt || code=$?
  [ "$code" -eq 2 ] || { echo "exit code $code: $(cat err.txt)" >&2; exit 1; }
  grep -q "cannot write disk/m.safetensors: No space left on device" err.txt || { cat err.txt >&2; exit 1; }
  [ "$(cat disk/m.safetensors)" = old ] || { echo "the old file changed" >&2; exit 1; }
  [ "$(ls -A disk)" = m.safetensors ] || { echo "left behind: $(ls -A disk)" >&2; exit 1; }
  "$TRIBUTARY" --version | grep -q SQLITE || exit 0
  "$TRIBUTARY" run smoke --set model.name=mlp --set train.batch=1 --set train.local-steps=1 --set experiment.rounds=300 \
    --out out --store disk/runs.sqlite --quiet >out.txt 2>err.txt || { cat err.txt >&2; exit 1; }
  grep -q "the run was not recorded to its end: cannot write the run store disk/runs.sqlite: the disk is full" err.txt ||
    { echo "not said: $(cat err.txt)" >&2; exit 1; }
  [ "$(grep -c round-finished out/events.jsonl)" -eq 300 ] || { echo "the run was stopped" >&2; exit 1; }
'
export TRIBUTARY
code=0
unshare --mount --map-root-user bash -c "$run" || code=$?
if [ "$code" -ne 0 ] && [ "$(id -u)" -eq 0 ]; then
  code=0
  unshare --mount bash -c "$run" || code=$?
fi
[ "$code" -ne 99 ] || skip "full_disk (a temporary file system cannot be mounted here)"
[ "$code" -eq 0 ] || fail "see above"
