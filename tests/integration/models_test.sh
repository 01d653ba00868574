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
