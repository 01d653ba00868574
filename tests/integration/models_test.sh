# `tributary models`: the published sizes, the promised JSON, and names that do not exist.
. "$(dirname "$0")/lib.sh"

for pair in vgg19:143667240 resnet18:11689512 resnet50:25557032 resnet152:60192808 mobilenet-v2:3504872 densenet-40:1019722; do
  expect_output "^  \"parameters\": ${pair#*:},$" models "${pair%:*}" --json
  expect_output '"input": \[' models "${pair%:*}" --json
done
"$TRIBUTARY" models resnet18 --json >model.json
for key in name input classes parameters macs layers; do
  grep -qE "^  \"$key\":" model.json || fail "no key $key"
done
for key in name kind output parameters macs bytes cut; do
  grep -qE "^      \"$key\":" model.json || fail "layers have no key $key"
done
expect_output '^layer1.0.conv1 +conv +64x32x32 +36,864 +37,748,736' models resnet18 --input 3x32x32 --classes 10
expect_output '^maxpool +max-pool +64x8x8' models resnet18 --input 3x32x32 --stem imagenet
expect_output '^vgg19 +143,667,240' models
expect_output '"name": "lenet5"' models --json

expect_error "unknown model 'resent18'; did you mean 'resnet18'\?" models resent18
expect_error "'3x32' is not a shape" models resnet18 --input 3x32
expect_error "unknown stem 'imagnet'; did you mean 'imagenet'\?" models resnet18 --stem imagnet
expect_error "node 'features.23' \(max-pool\) of vgg16: a window of 2x2 does not fit" models vgg16 --input 3x8x8 --stem imagenet
expect_error 'from 1 to 1000000 classes, found 0' models cnn --classes 0
expect_error "unknown option of 'tributary models': '--inptu'; did you mean '--input'\?" models cnn --inptu 3x32x32
expect_error "unknown command 'modles'; did you mean 'models'\?" modles

# Networks as files: what is saved is read again, and what is not a network is refused in words.
"$TRIBUTARY" train --model resnet8 --data glyphs --train-limit 8 --test-limit 4 --epochs 1 --batch 8 --save net.onnx --quiet >/dev/null
expect_output '^layer1.0.add +add +16x32x32 ' models import net.onnx
expect_output 'net for 3x32x32 and 10 classes: 78,042 parameters' models import net.onnx
"$TRIBUTARY" models import net.onnx --name mine --save mine.safetensors --json >import.json
for key in name input classes parameters macs layers units channel_groups notes saved; do
  grep -qE "^  \"$key\":" import.json || fail "models import --json has no key $key"
done
grep -q '"name": "mine"' import.json || fail "the network is not called mine"
expect_output '^mine on glyphs: accuracy' evaluate mine.safetensors --test-limit 10
expect_output '^again.onnx: mine for samples of 3x32x32' models export mine.safetensors again.onnx
expect_output '"saved": "again.onnx"' models export mine.safetensors again.onnx --json
expect_output 'test accuracy' train --model again.onnx --freeze conv1,layer1 --data glyphs --train-limit 8 --test-limit 4 --epochs 1
expect_output 'test accuracy' train --model resnet8 --from again.onnx --data glyphs --train-limit 8 --test-limit 4 --epochs 1
expect_error 'cannot (open|read) nothing.onnx' models import nothing.onnx
expect_error "must end in .onnx" models export mine.safetensors again.bin
head -c 20000 net.onnx >short.onnx
expect_error "short.onnx: its bytes are not in ONNX's format: it is cut off" models import short.onnx
echo 'not a network' >text.onnx
expect_error 'text.onnx: ' models import text.onnx
expect_error 'text.onnx: ' evaluate text.onnx --data glyphs
expect_error "net.onnx: its input 'input' has the shape \[\?, 3, 32, 32\], which samples of 1x28x28 do not fit" models import net.onnx --input 1x28x28
expect_error "unknown layer of again 'layer11'; did you mean 'layer1'" train --model again.onnx --freeze layer11 --data glyphs
expect_error 'brings weights of its own; leave out --from' train --model again.onnx --from net.onnx --data glyphs
expect_error '--new-head is only valid with weights to start from' train --model cnn --new-head --data glyphs
expect_error "does not fit cnn: it has no tensor 'conv1.bias'|does not fit cnn: tensor 'conv1.weight'" train --model cnn --from net.onnx --data glyphs
