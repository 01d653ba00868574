# Ctrl-C never loses work: the run stops at a clean point, saves, says so, and exits with 0.
. "$(dirname "$0")/lib.sh"

mkfifo lines
"$TRIBUTARY" train --model lenet5 --train-limit 500 --test-limit 50 --epochs 100000 --schedule constant \
  --save kept.safetensors >lines 2>err.txt &
process=$!
exec 3<lines
while read -r line <&3; do
  case "$line" in "epoch "*) break ;; esac
done
kill -INT "$process"
cat <&3 >rest.txt
wait "$process" || fail "exit code $? after Ctrl-C: $(cat err.txt)"
grep -q '^interrupted after [0-9]* steps$' rest.txt || fail "not said: $(cat rest.txt)"
expect_output 'lenet5 on glyphs: accuracy' evaluate kept.safetensors --test-limit 50

# Without --save it is rescued to a file of its own.
"$TRIBUTARY" train --model lenet5 --train-limit 500 --test-limit 50 --epochs 100000 --schedule constant >lines 2>err.txt &
process=$!
exec 3<lines
while read -r line <&3; do
  case "$line" in "epoch "*) break ;; esac
done
kill -TERM "$process"
cat <&3 >rest.txt
wait "$process" || fail "exit code $? after SIGTERM"
expect_output 'lenet5 on glyphs: accuracy' evaluate lenet5-interrupted.safetensors --test-limit 50
