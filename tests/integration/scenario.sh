# Runs a scenario (an experiment with disturbances, whose comments say what must hold) twice, with different numbers of
# threads, and compares: SCENARIO=file.toml
#   # expect every EXPRESSION   for each round      # expect last EXPRESSION   for the last one
# An expression is awk's, over the columns of rounds.csv by name.
. "$(dirname "$0")/lib.sh"

"$TRIBUTARY" run "$SCENARIO" --threads 1 --out one --quiet >one.txt
"$TRIBUTARY" run "$SCENARIO" --threads 4 --out four --quiet >four.txt
digest=$(grep '^digest [0-9a-f]\{32\}$' one.txt) || fail "no digest: $(cat one.txt)"
grep -q "^$digest$" four.txt || fail "two runs of one seed differ: $digest and $(grep '^digest' four.txt)"
cmp one/events.jsonl four/events.jsonl || fail "the events differ"
cmp one/weights.safetensors four/weights.safetensors || fail "the weights differ"

expectations=$(grep -c '^# expect ' "$SCENARIO") || fail "$SCENARIO expects nothing"
grep '^# expect ' "$SCENARIO" | while read -r _ _ which expression; do
  case "$which" in
    every) rows='NR > 1' ;;
    last) rows='NR == rows' ;;
    *) fail "unknown expectation '$which'" ;;
  esac
  program="function abs(x) { return x < 0 ? -x : x } BEGIN { FS = \",\" } NR == 1 { next } $rows {"
  column=0
  for name in $(head -1 one/rounds.csv | tr , ' '); do
    column=$((column + 1))
    program+=" $name = \$$column;"
  done
  program+=" if (!($expression)) { print \"round \" \$1 \": \" \$0; bad = 1 } } END { exit bad }"
  awk -v rows="$(wc -l <one/rounds.csv)" "$program" one/rounds.csv || fail "does not hold: $which $expression"
done
echo "$expectations expectations hold, $digest"
