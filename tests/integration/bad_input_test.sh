# Bad input gets a clear error, exit code 2, and leaves nothing behind.
. "$(dirname "$0")/lib.sh"

# Names.
expect_error "unknown model 'cnnn'; did you mean 'cnn'\?" train --model cnnn
expect_error "unknown data set 'glyphz'; did you mean 'glyphs'\?" train --data glyphz
expect_error "unknown optimiser 'sdg'; did you mean 'sgd'\?" train --optimiser sdg
expect_error "unknown schedule 'cosin'; did you mean 'cosine'\?" train --schedule cosin
expect_error "unknown augmentation 'standart'; did you mean 'standard'\?" train --augment standart
expect_error "unknown option of 'tributary train': '--epoch'; did you mean '--epochs'\?" train --epoch 3
expect_error "unknown split .*'dirichlett'; did you mean 'dirichlet'\?" data show glyphs --split dirichlett
expect_error 'devices' data show glyphs --devices 0
expect_error 'alpha' data show glyphs --split dirichlet --alpha nan
expect_error '--epochs' train --epochs many
expect_error 'momentum' train --momentum 1.5
expect_error 'not finite at step' train --model cnn --train-limit 64 --test-limit 10 --lr 1e20 --save x.safetensors
[ ! -e x.safetensors ] || fail "a failed run wrote a file"

# Data files. Missing, truncated, of another kind, lying.
expect_error 'TRIBUTARY_DATA' train --data cifar10
mkdir -p data/cifar10 data/fashion-mnist npy
expect_error 'data_batch_1.bin' train --data cifar10 --data-dir data
for i in 1 2 3 4 5; do head -c 30730 /dev/zero >data/cifar10/data_batch_$i.bin; done
head -c 30729 /dev/zero >data/cifar10/test_batch.bin
expect_error 'test_batch.bin' train --data cifar10 --data-dir data
{ bytes 0b; head -c 30729 /dev/zero; } >data/cifar10/test_batch.bin
expect_error 'test_batch.bin.*label' train --data cifar10 --data-dir data
f=data/fashion-mnist
bytes 00 00 08 01 00 00 00 01 00 >$f/train-labels-idx1-ubyte
bytes 00 00 08 02 00 00 00 01 00 00 00 1c 00 00 00 1c >$f/train-images-idx3-ubyte
expect_error 'train-images-idx3-ubyte' train --data fashion-mnist --data-dir data
bytes 00 00 08 03 00 00 00 02 00 00 00 1c 00 00 00 1c 00 01 02 >$f/train-images-idx3-ubyte
expect_error 'train-images-idx3-ubyte' train --data fashion-mnist --data-dir data
bytes 00 00 08 03 ff ff ff ff ff ff ff ff ff ff ff ff >$f/train-images-idx3-ubyte
expect_error 'train-images-idx3-ubyte' train --data fashion-mnist --data-dir data
rm $f/train-images-idx3-ubyte
bytes 1f 8b 08 00 00 00 00 00 00 03 63 60 >$f/train-images-idx3-ubyte.gz
expect_error 'train-images-idx3-ubyte.gz' train --data fashion-mnist --data-dir data
printf 'PK\003\004 not an array' >npy/X.npy
printf 'x' >npy/y.npy
expect_error 'X.npy' train --data ./npy
printf "\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 4), }      \n1234" >npy/X.npy
expect_error 'X.npy' train --data ./npy

# Weights files.
expect_error 'cannot open none.safetensors' evaluate none.safetensors
printf '\xff\xff\xff\xff\xff\xff\xff\x7f{}' >lie.safetensors
expect_error 'lie.safetensors: ' evaluate lie.safetensors
header='{"fc.weight":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,4]}}     '
{ bytes "$(printf '%02x' ${#header})" 00 00 00 00 00 00 00; printf '%s' "$header"; bytes 00 00 00 00; } >lie.safetensors
expect_error "lie.safetensors: .*'fc.weight'" evaluate lie.safetensors
header='{}      '
{ bytes 08 00 00 00 00 00 00 00; printf '%s' "$header"; } >bare.safetensors
expect_error 'does not say which network' evaluate bare.safetensors
expect_error "has no tensor 'conv1.weight'" evaluate bare.safetensors --model cnn --data glyphs
"$TRIBUTARY" train --model lenet5 --train-limit 64 --test-limit 10 --epochs 1 --save l.safetensors --quiet >/dev/null
head -c 1000 l.safetensors >cut.safetensors
expect_error 'cut.safetensors: ' evaluate cut.safetensors
expect_error "does not fit cnn: tensor 'conv1.weight'" train --model cnn --from l.safetensors --train-limit 64

# Places that cannot be written are refused before any work.
expect_error 'no/such/place' train --save no/such/place/m.safetensors
expect_error 'it is a folder' train --save npy
expect_error 'it is a folder' data show glyphs --plot npy

ls >left.txt
grep -vE '^(data|npy|left.txt|lie.safetensors|bare.safetensors|l.safetensors|cut.safetensors)$' left.txt && fail "left behind: $(cat left.txt)"
true
