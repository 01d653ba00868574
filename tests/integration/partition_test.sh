# tributary partition: the JSON has the agreed form, every sample is placed once and by quota, for every method and
# objective; the same again in little memory and on other threads; bad input is refused in words and leaves no file.
source "$SOURCE/tests/integration/lib.sh"

# 80 samples of two numbers and two classes: a grid with a few far away. Sample i is of class i mod 2.
le32() { awk -v n="$1" 'BEGIN { printf "%02x %02x %02x %02x", n % 256, int(n / 256) % 256, 0, 0 }'; }
{
  npy '|u1' '80, 2'
  for ((i = 0; i < 80; ++i)); do bytes "$(printf %02x $((i * 37 % 101)))" "$(printf %02x $((i * 53 % 89)))"; done
} >features.npy
{
  npy '<i4' '80,'
  for ((i = 0; i < 80; ++i)); do bytes $(le32 $((i % 2))); done
} >labels.npy
good="partition --features features.npy --labels labels.npy --speeds 4,2,1,1 --out parts.json"

# check FILE METHOD SIZES: the agreed form, the sizes, and as many assignments to each worker.
check() {
  tr -d ' \n' <"$1" >flat.json
  grep -qE "^\{\"method\":\"$2\",\"assignment\":\[[0-9,]+\],\"sizes\":\[$3\],\"objective\":\[[0-9.e,-]+\],\"class_counts\":\[\[[0-9,]+\](,\[[0-9,]+\])*\],\"feature_distance\":\[[0-9.e,-]+\]\}$" \
    flat.json || fail "not the agreed form: $(cat "$1")"
  sed -E 's/.*"assignment":\[([0-9,]+)\].*/\1/; s/,/\n/g' flat.json | sort -n | uniq -c | awk '{ print $1 }' | paste -sd, >counted.txt
  [ "$(cat counted.txt)" = "$3" ] || fail "$1: assigned $(cat counted.txt), sizes $3"
}

for objective in facility-location graph-cut matched-cut; do
  for choice in raw fill; do
    "$TRIBUTARY" $good --objective $objective --choice $choice --json >out.json
    cmp -s out.json parts.json || fail "--json differs from the file"
    check parts.json submodular 40,20,10,10
    grep -q '"class_counts": \[\[20,20\],\[10,10\],\[5,5\],\[5,5\]\]' parts.json || fail "quotas: $(cat parts.json)"
    "$TRIBUTARY" $good --objective $objective --choice $choice --threads 1 --json | cmp -s out.json || fail "threads matter"
  done
  "$TRIBUTARY" $good --objective $objective --method stratified --seed 5 --quiet >/dev/null
  check parts.json stratified 40,20,10,10
done
"$TRIBUTARY" $good --json >out.json
"$TRIBUTARY" $good --memory 5kB --json | cmp -s out.json || fail "memory matters"
"$TRIBUTARY" partition --data glyphs --train-limit 3000 --features pca:8 --speeds 1,1 --objective facility-location \
  --memory 130kB --out parts.json --json >out.json
grep -q '"neighbours": [1-9]' out.json || fail "nothing says that only neighbours counted"
"$TRIBUTARY" $good --distance-samples 20 --json | grep -q '"feature_distance_samples": 19$' ||
  fail "nothing says that distances are over some samples"
for method in iid dirichlet classes-per-device extended-dirichlet shards; do
  "$TRIBUTARY" $good --method $method --seed 3 --quiet >/dev/null
  [ "$(tr -d ' \n' <parts.json | sed -E 's/.*"assignment":\[([0-9,]+)\].*/\1/' | tr ',' '\n' | grep -c .)" = 80 ] ||
    fail "$method: $(cat parts.json)"
done
"$TRIBUTARY" $good --plot parts.svg >out.txt
grep -q 'worker-3' parts.svg || fail "the picture has no fourth worker"
grep -q 'feature distance' out.txt || fail "$(cat out.txt)"
expect_output 'matched-cut' partition --help
expect_output 'Examples' partition --help
# Features of a data set; whoever does not say which is told.
expect_output '^0 +100' partition --data glyphs --train-limit 200 --features pca:8 --speeds 1,1 --out parts.json
expect_output '^0 +100' partition --data glyphs --train-limit 200 --features pixels --speeds 1,1 --out parts.json
# What a briefly trained network sees.
"$TRIBUTARY" train --model cnn --data glyphs --train-limit 300 --test-limit 50 --epochs 1 --save m.safetensors --quiet >/dev/null
expect_output '^0 +150' partition --data glyphs --train-limit 300 --features-from m.safetensors --speeds 1,1 --out parts.json

# By hand: four samples of one class at 0, 0, 10 and 10; each of two workers gets one of either.
{ npy '|u1' '4, 1'; bytes 00 00 0a 0a; } >f.npy
{ npy '|u1' '4,'; bytes 00 00 00 00; } >l.npy
"$TRIBUTARY" partition --features f.npy --labels l.npy --speeds 1,1 --out parts.json --quiet >/dev/null
tr -d ' \n' <parts.json | grep -qE '"assignment":\[(0,1|1,0),(0,1|1,0)\].*"feature_distance":\[0.0,0.0\]' || fail "$(cat parts.json)"
# One sample of one worker, and a class with fewer samples than workers.
{ npy '|u1' '1, 1'; bytes 05; } >one.npy
{ npy '|u1' '1,'; bytes 00; } >one_label.npy
"$TRIBUTARY" partition --features one.npy --labels one_label.npy --speeds 3 --out one.json --quiet >/dev/null
check one.json submodular 1
{ npy '|u1' '4,'; bytes 00 00 00 01; } >rare.npy
"$TRIBUTARY" partition --features f.npy --labels rare.npy --speeds 1,1 --out parts.json --quiet >/dev/null
check parts.json submodular 2,2

# refused PATTERN ARGUMENT…: and no file is left or touched.
refused() {
  rm -f parts.json parts.svg
  expect_error "$@" --plot parts.svg
  [ ! -e parts.json ] && [ ! -e parts.svg ] || fail "a refused call left a file: $*"
}
base="partition --features features.npy --labels labels.npy --out parts.json"
refused "features of 4 samples and labels of 80" partition --features f.npy --labels labels.npy --speeds 1,1 --out parts.json
{ npy '<f4' '2, 1'; bytes 00 00 c0 7f 00 00 80 3f; } >nan.npy
{ npy '|u1' '2,'; bytes 00 01; } >two.npy
refused "row 0, column 0 of the features is nan" partition --features nan.npy --labels two.npy --speeds 1 --out parts.json
refused "speed of worker 1 is 0" $base --speeds 1,0
refused "speed of worker 0 is -1" $base --speeds=-1,1
refused "speed of worker 1 is inf" $base --speeds 1,inf
refused "'x', number 2 of the list" $base --speeds 1,x
refused "'', number 2 of the list" $base --speeds 1,
refused "worker 1 of speed 1.*would get none" $base --speeds 1000,1
refused "2 workers for 1 sample" partition --features one.npy --labels one_label.npy --speeds 1,1 --out parts.json
refused "did you mean 'submodular'" $base --speeds 1,1 --method submodula
refused "did you mean 'graph-cut'" $base --speeds 1,1 --objective graphcut
refused "did you mean 'fill'" $base --speeds 1,1 --choice fil
refused "width of the kernel is 0" $base --speeds 1,1 --width 0
refused "allow more memory" $base --speeds 1,1 --memory 100
refused "memory" $base --speeds 1,1 --memory much
refused "do not say where" $base --speeds 1,1 --method source
refused "alpha must be" $base --speeds 1,1 --method dirichlet --alpha 0
refused "absent.npy" partition --features absent.npy --labels labels.npy --speeds 1 --out parts.json
refused "needs --labels" partition --features features.npy --speeds 1 --out parts.json
refused "brings its own" partition --data glyphs --features pixels --labels labels.npy --speeds 1 --out parts.json
refused "'pixel'" partition --data glyphs --features pixel --speeds 1 --out parts.json
refused "pca:K" partition --data glyphs --features pca:0 --speeds 1 --out parts.json
refused "features are named by one of" partition --data glyphs --speeds 1 --out parts.json
refused "needs --data" partition --features-from m.safetensors --speeds 1 --out parts.json
refused "features.npy" partition --data glyphs --features-from features.npy --speeds 1 --out parts.json
echo nonsense >bad.npy
refused "bad.npy and labels.npy: features: a .npy file starts" partition --features bad.npy --labels labels.npy --speeds 1 --out parts.json
code=0
"$TRIBUTARY" partition --features features.npy --labels labels.npy --speeds 1 --out no/such/parts.json 2>err.txt || code=$?
[ "$code" -ne 0 ] && grep -q 'no/such' err.txt || fail "a folder that is not there: $code, $(cat err.txt)"
