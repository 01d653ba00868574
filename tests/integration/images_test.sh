# Folders of pictures: decoded as Pillow decodes them, and used by every command that reads data.
. "$(dirname "$0")/lib.sh"

python=/usr/bin/python3
"$python" -c 'import PIL' 2>/dev/null || python=python3
"$python" -c 'import PIL' 2>/dev/null || skip "images (there is no Pillow; scripts/setup python)"
"$python" "$SOURCE/tests/integration/images_pillow.py" make || fail "images_pillow.py make"
IMAGE_READER=$IMAGE_READER "$python" "$SOURCE/tests/integration/images_pillow.py" compare || fail "not as Pillow reads them"

# What cannot be read is said, quickly and in little memory.
for file in bad/*; do
  (ulimit -v 4000000; timeout 20 "$IMAGE_READER" "$file" >/dev/null 2>err.txt) && fail "$file was read"
  grep -q "^$file: " err.txt || fail "$file: $(cat err.txt)"
done

# A data set: red, green and blue squares of several sizes, some grey.
expect_error 'pixels \(height x width\), but .*--image-size' train --data ./squares --epochs 1
expect_output '"class_names": \[' data show ./squares --image-size 16 --devices 3 --json
expect_output '^device +samples +classes +blue +green +red' data show ./squares --image-size 16 --devices 3
expect_output '"shape": \[$' data check ./squares --image-size 12x16 --json
"$TRIBUTARY" train --model cnn --data ./squares --image-size 16 --epochs 6 --lr 0.02 --threads 2 --save squares.safetensors --json \
  >train.json || fail "train"
"$python" -c '
import json; accuracy = json.load(open("train.json"))["test_accuracy"]; print("accuracy", accuracy); assert accuracy > 0.9' || fail "squares are not learnt"
# The network says which size and colour it was trained with, and which class is which.
expect_output '"class_names": \[' evaluate squares.safetensors --json --quiet
expect_output 'accuracy (9|100)' evaluate squares.safetensors --quiet
expect_output 'accuracy (9|100)' evaluate squares.safetensors --data ./divided --quiet
cat >squares.toml <<'TOML'
schema = 1
[experiment]
name = "squares"
rounds = 3
[model]
name = "cnn"
[data]
set = "./squares"
split = "iid"
image-size = 16
colour = "colour"
[[fleet.group]]
name = "g"
count = 3
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "federated"
batch = 16
local-steps = 4
learning-rate = 0.05
TOML
expect_output 'accuracy' run squares.toml --out ran --quiet
grep -q '^image-size = "16x16"' ran/experiment.toml || fail "the size is not in the experiment as run"
expect_output 'accuracy' run ran/experiment.toml --out again --quiet
cmp ran/weights.safetensors again/weights.safetensors || fail "the experiment as run gives another run"
expect_output 'wrote parts.json' partition --data ./squares --image-size 16 --features pixels --speeds 1,1,2 --out parts.json
expect_error "image-size is \"big\"; allowed: a side, like 64, or height and width" run squares.toml --set data.image-size=big
expect_error "image-size .*folder" run default --set data.image-size=16
expect_error "\-\-image-size: is '0'; allowed" data check ./squares --image-size 0

# Real devices with pictures of their own, of other sizes, one of which has no green ones.
if "$TRIBUTARY" coordinator --help >/dev/null 2>&1; then
  : >coordinator.txt
  "$TRIBUTARY" coordinator squares.toml --insecure --listen 127.0.0.1:0 --wait-for 2 --out fleet >coordinator.txt 2>&1 &
  coordinator=$!
  trap 'kill $coordinator $devices 2>/dev/null || true; rm -rf "$work"' EXIT
  devices=
  for i in {1..600}; do
    port=$(sed -n 's/^listening on port //p' coordinator.txt)
    [ -z "$port" ] || break
    kill -0 $coordinator 2>/dev/null || fail "coordinator: $(cat coordinator.txt)"
    sleep 0.1
  done
  for name in one two; do
    "$TRIBUTARY" device --join 127.0.0.1:$port --insecure --name $name --data ./device-$name --leave-when-done >$name.txt 2>&1 &
    devices="$devices $!"
  done
  wait $coordinator || fail "coordinator: $(cat coordinator.txt) $(cat one.txt two.txt)"
  grep -q '^classes = \["blue", "green", "red"\]' fleet/experiment.toml || fail "devices are not told the classes"
  wait $devices || fail "devices: $(cat one.txt two.txt)"
fi
