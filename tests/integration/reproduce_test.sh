# `tributary reproduce`: the list, and one that is stopped in the middle and goes on where it was.
. "$(dirname "$0")/lib.sh"

expect_output '^heterogeneity +what a slow device does' reproduce
expect_error "unknown reproduction 'heterogenity'; did you mean 'heterogeneity'\?" reproduce heterogenity

mkfifo lines
"$TRIBUTARY" reproduce heterogeneity --seeds 1 --out out 2>lines >/dev/null &
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
