# The promise of the first minutes: a small network learns the built-in data set, in minutes on two cores.
. "$(dirname "$0")/lib.sh"

"$TRIBUTARY" train --model cnn --data glyphs --epochs 8 --threads 2 --json --quiet >result.json
accuracy=$(grep -E '^  "test_accuracy"' result.json | grep -oE '[0-9.]+')
echo "glyphs + cnn: $accuracy"
awk -v a="$accuracy" 'BEGIN { exit !(a >= 0.95) }' || fail "glyphs + cnn reached $accuracy, promised 0.95"
