# `tributary data show`: every kind of split, as table, JSON and picture.
. "$(dirname "$0")/lib.sh"

expect_output '^glyphs +built in' data
expect_output '"name": "glyphs"' data --json
for split in iid dirichlet classes-per-device extended-dirichlet shards; do
  "$TRIBUTARY" data show glyphs --split $split --devices 7 --seed 3 --json >one.json
  "$TRIBUTARY" data show glyphs --split $split --devices 7 --seed 3 --json >two.json
  cmp one.json two.json || fail "$split differs between two runs"
  # Every sample is somewhere.
  total=$(sed -n '/"sizes"/,/\]/p' one.json | grep -oE '[0-9]+' | awk '{ sum += $1 } END { print sum }')
  [ "$total" -eq 10000 ] || fail "$split placed $total of 10000 samples"
done
expect_output 'mean distance' data show glyphs --split shards --devices 5 --plot who.svg
grep -q '</svg>' who.svg || fail "no picture"

# A data set of one's own: four samples of two classes as NumPy files.
mkdir mine
{ npy '<f4' '20, 1, 8, 8'; head -c $((20 * 64 * 4)) /dev/zero; } >mine/X.npy
{ npy '|u1' '20,'; for i in {1..10}; do bytes 00 01; done; } >mine/y.npy
expect_output '"classes": 2' data show ./mine --devices 3 --json
expect_output '"train": 18' data show ./mine --devices 3 --json
