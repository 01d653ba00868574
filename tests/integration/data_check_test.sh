# `tributary data check`: what is wrong with data, all of it, in words and as JSON.
. "$(dirname "$0")/lib.sh"

# field EXPRESSION: of the JSON in check.json, in Python.
field() { python3 -c "import json; c = json.load(open('check.json')); value = ($1); print(value)"; }
# check CODE ARGUMENT…: exits so, and leaves check.json.
check() {
  local expected=$1 code=0
  shift
  "$TRIBUTARY" data check "$@" --json >check.json 2>err.txt || code=$?
  [ "$code" -eq "$expected" ] || fail "data check $*: exit code $code, expected $expected: $(cat check.json err.txt)"
}

# Arrays: sound ones first.
mkdir arrays
python3 - <<'PYTHON'
import struct
def npy(name, descr, shape, data):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (descr, ", ".join(map(str, shape)) + ",")
    text = text.ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data)
def save(folder, x, y, tx=None, ty=None):
    npy(folder + "/X.npy", "<f4", (len(x), 1, 2, 2), b"".join(struct.pack("<4f", *v) for v in x))
    npy(folder + "/y.npy", "<i8", (len(y),), b"".join(struct.pack("<q", v) for v in y))
    if tx:
        npy(folder + "/X_test.npy", "<f4", (len(tx), 1, 2, 2), b"".join(struct.pack("<4f", *v) for v in tx))
        npy(folder + "/y_test.npy", "<i8", (len(ty),), b"".join(struct.pack("<q", v) for v in ty))
import os
x = [(i, i + 1, i + 2, -i) for i in range(60)]
save("arrays", x, [i % 3 for i in range(60)], [(i, 0, 7, 7) for i in range(9)], [i % 3 for i in range(9)])
for name in ("nan", "labels", "counts", "copies", "constant", "hole"): os.mkdir(name)
nan = [list(v) for v in x]; nan[3][1] = float("nan"); nan[40][2] = float("inf")
save("nan", nan, [i % 3 for i in range(60)])
save("labels", x, [-1] + [i % 3 for i in range(59)])
save("counts", x, [i % 3 for i in range(59)])
save("copies", x[:50] + x[:10], [i % 2 for i in range(50)] + [1 - i % 2 for i in range(10)], x[45:55], [0] * 10)
save("constant", [(5, 5, 5, 5)] * 60, [i % 2 for i in range(60)])
save("hole", x, [0] * 58 + [5, 5])
PYTHON
check 0 arrays
[ "$(field 'c["kind"], c["ok"], c["findings"], c["train"]["class_counts"], c["test"]["samples"]')" = \
  "('arrays', True, [], [20, 20, 20], 9)" ] || fail "sound arrays: $(cat check.json)"
# Mean and deviation by hand: of i, i+1, i+2, -i for i below 60 the mean is (29.5 + 30.5 + 31.5 - 29.5) / 4.
[ "$(field 'round(c["train"]["mean"][0], 3)')" = 15.5 ] || fail "mean: $(field 'c["train"]["mean"]')"
check 2 nan
[ "$(field '[f["severity"] for f in c["findings"]]')" = "['error']" ] || fail "$(cat check.json)"
field 'c["findings"][0]["what"]' | grep -q '^2 values are not finite numbers, in samples 3, 40' || fail "$(cat check.json)"
check 2 labels
field 'c["findings"][0]["what"]' | grep -q 'label 0 must be from 0' || fail "$(cat check.json)"
check 2 counts
field 'c["findings"][0]["what"]' | grep -q 'X.npy has 60 samples and y.npy 59 labels' || fail "$(cat check.json)"
check 0 copies
[ "$(field 'c["repeated"], c["shared"]')" = "(10, 5)" ] || fail "copies: $(cat check.json)"
field '[f["what"] for f in c["findings"]]' | grep -q 'copies of others with another class' || fail "$(cat check.json)"
check 0 constant
field '[f["what"] for f in c["findings"]]' | grep -q 'channel 0 never changes' || fail "$(cat check.json)"
check 0 hole
field '[f["what"] for f in c["findings"]]' | grep -q '4 of the labels 0 to 5 do not occur' || fail "$(cat check.json)"
field '[f["advice"] for f in c["findings"]]' | grep -q 'always saying the first would reach' || fail "$(cat check.json)"
expect_output 'nothing is wrong with them' data check arrays --plot classes.svg
grep -q '</svg>' classes.svg || fail "no picture"

# Recordings: every file that is wrong, not only the first.
for person in a b c; do
  mkdir -p walks/$person
  { echo x,y,timestamp,label; for i in {0..299}; do echo "$((i % 7)).$person,$((i * i % 11)),$((i * 10)),$([ $((i / 100 % 2)) -eq 0 ] && echo walk || echo sit)"; done; } |
    sed "s/\.$person/.5/" >walks/$person/1.csv
done
check 0 walks
[ "$(field 'c["kind"], c["class_names"]')" = "('recordings', ['sit', 'walk'])" ] || fail "$(cat check.json)"
check 0 walks --window 50 --hop 10 --columns y
[ "$(field 'c["shape"]')" = "[1, 1, 50]" ] || fail "$(cat check.json)"
sed -i '17s/^[^,]*/nan/' walks/a/1.csv
sed -i '5d;s/label/lable/' walks/c/1.csv
head -n 20 walks/b/1.csv >walks/b/2.csv
check 2 walks
[ "$(field '[(f["severity"], f["where"][-7:]) for f in c["findings"]]')" = \
  "[('error', 'a/1.csv'), ('error', 'c/1.csv'), ('warning', 'b/2.csv')]" ] || fail "$(cat check.json)"

# Files as published, in a folder of any name.
mkdir digits
{ bytes 00 00 08 03 00 00 00 14 00 00 00 02 00 00 00 02; head -c 80 /dev/zero; } >digits/train-images-idx3-ubyte
{ bytes 00 00 08 01 00 00 00 14; for i in {1..10}; do bytes 00 01; done; } >digits/train-labels-idx1-ubyte
{ bytes 00 00 08 03 00 00 00 02 00 00 00 02 00 00 00 02; bytes 01 02 03 04 05 06 07 08; } >digits/t10k-images-idx3-ubyte
{ bytes 00 00 08 01 00 00 00 02 00 01; } >digits/t10k-labels-idx1-ubyte
check 0 digits
[ "$(field 'c["kind"], c["shape"]')" = "('IDX files', [1, 2, 2])" ] || fail "$(cat check.json)"
head -c 60 digits/train-images-idx3-ubyte >short && mv short digits/train-images-idx3-ubyte
check 2 digits
field 'c["findings"][0]["what"]' | grep -q 'train-images-idx3-ubyte' || fail "$(cat check.json)"
mkdir batches
for i in 1 2 3 4 5; do head -c $((3073 * 3)) /dev/zero >batches/data_batch_$i.bin; done
head -c 3073 /dev/zero >batches/test_batch.bin
check 0 batches
[ "$(field 'c["kind"]')" = "CIFAR files" ] || fail "$(cat check.json)"

# Nothing that is known.
mkdir nothing
expect_error 'nothing holds no samples that are known; allowed: a folder with X.npy' data check nothing
expect_error 'there is no folder nowhere/here' data check nowhere/here
