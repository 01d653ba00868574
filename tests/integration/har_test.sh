# Recordings of sensors: from .csv files to a fleet whose samples arrive as they were recorded. The recordings are drawn
# here: seven people with a phone and a watch each, who shake them when they walk.
. "$(dirname "$0")/fleet_lib.sh"

expect_error 'har is read from files, and no folder was given.*--data-dir DIR' run har
mkdir -p empty
expect_error 'empty/har holds no folders with .csv recordings.*https://doi.org/' run har --data-dir empty

draw() { # PERSON KIND MS-PER-ROW
  awk -v person="$1" -v ms="$3" 'BEGIN {
    print "x_acc,y_acc,z_acc,x_gyro,y_gyro,z_gyro,timestamp,label"
    srand(person)
    split("SEATED STANDING_UP WALKING TURNING SITTING_DOWN", names, " ")
    for (row = 0; row < 1500; ++row) {
      a = int(row / 150) % 5
      for (c = 0; c < 6; ++c) printf "%.4f,", (c == a) + a * sin(row * (1 + a) / 5) + (rand() - 0.5) / 2
      printf "%.0f,%s\n", 1657533977813 + ms * row + (row >= 750 ? 4000 : 0), names[a + 1]
    }
  }'
}
for person in 1 2 3 4 5 6 7; do
  mkdir -p data/har/DATA/s0$person
  draw $person sp 10 >data/har/DATA/s0$person/s0${person}_01_sp.csv
  draw $person sw $((10 + person % 2)) >data/har/DATA/s0$person/s0${person}_01_sw.csv
done

expect_output '"shape": \[' data show har --data-dir data --split source --devices 12 --json
[ "$(grep -cE '^ +[0-9]+,?$' out.txt)" -ge 12 ] || fail "not twelve sources: $(cat out.txt)"
expect_error '12 sources for 13 devices' data show har --data-dir data --split source --devices 13
expect_error 'do not say where' data show glyphs --split source

# The preset, on six people's devices.
small=(--set fleet.group.phones.count=6 --set fleet.group.watches.count=6 --set experiment.rounds=25)
"$TRIBUTARY" run har "${small[@]}" --data-dir data --json --threads 1 --out one >one.json 2>err.txt || fail "$(cat err.txt)"
"$TRIBUTARY" run har "${small[@]}" --data-dir data --json --threads 2 --out two >two.json 2>err.txt || fail "$(cat err.txt)"
digest() { grep -oE '"digest": "[0-9a-f]+"' "$1"; }
[ "$(digest one.json)" = "$(digest two.json)" ] || fail "the digest depends on the threads"
accuracy=$(grep -oE '"accuracy": [0-9.]+' one.json | head -n 1 | grep -oE '[0-9.]+')
awk -v a="$accuracy" 'BEGIN { exit !(a >= 0.8) }' || fail "the preset reached $accuracy on drawn recordings"
# Forty times slower takes longer, though not forty times: batches follow the rates.
"$TRIBUTARY" run har "${small[@]}" --set stream.recorded-speed=0.5 --set experiment.rounds=3 --data-dir data --json --out slow >slow.json 2>err.txt ||
  fail "$(cat err.txt)"
grep -q 'recorded-speed = 0.5' slow/experiment.toml || fail "the run folder has another speed"
after_three() { sed -n 4p "$1/rounds.csv" | cut -d, -f2; }
awk -v slow="$(after_three slow)" -v fast="$(after_three one)" 'BEGIN { exit !(slow > 2 * fast && fast > 0) }' ||
  fail "three rounds took $(after_three slow) s at 0.5 and $(after_three one) s at 20"
expect_error 'glyphs does not have' run smoke --set stream.recorded-speed=2

# Real devices play their recordings, too: with batches of one size, to the same weights.
if "$TRIBUTARY" coordinator --help >/dev/null 2>&1; then
  make_keys pi-1 pi-2 pi-3
  cat >walk.toml <<EOF
schema = 1
[experiment]
name = "walk"
rounds = 12
[model]
name = "har-cnn"
[data]
set = "har"
split = { kind = "source" }
[fleet]
quorum = 1.0
[[fleet.group]]
name = "all"
count = 3
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "sync-sgd"
batch = 6
learning-rate = 0.05
[stream]
recorded-speed = 40
EOF
  "$TRIBUTARY" run ./walk.toml --data-dir data --out simulated --quiet >/dev/null
  port=
  start_coordinator coordinator ./walk.toml --data-dir data --out real
  await_port coordinator
  for name in pi-1 pi-2 pi-3; do start_device $name --data-dir data --leave-when-done; done
  expect_end 0 coordinator
  for name in pi-1 pi-2 pi-3; do expect_end 0 $name; done
  expect_same simulated real
  grep -q '"stream_last":71,' real/events.jsonl || grep -q '"stream_last":71}' real/events.jsonl || fail "no positions: $(tail -n 3 real/events.jsonl)"
fi

# One's own recordings, by their path; a mistake in them is named.
expect_output 'test accuracy' train --model har-cnn --data data/har/DATA --epochs 1 --threads 1
sed -i '17s/^[^,]*/nan/' data/har/DATA/s03/s03_01_sw.csv
expect_error 's03_01_sw.csv: line 17: x_acc is .nan.; allowed: a finite number' train --data har --data-dir data
sed -i '1s/label/lable/' data/har/DATA/s02/s02_01_sp.csv
expect_error "s02_01_sp.csv: line 1: has no column 'label'" run har --data-dir data
