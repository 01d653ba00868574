# `tributary data fetch`, against a server on this machine: resumed, redirected, checked, unpacked, refused.
. "$(dirname "$0")/lib.sh"

: >server.txt
python3 "$SOURCE/tests/integration/fetch_server.py" serve >server.txt 2>server.log &
server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
for i in {1..600}; do
  port=$(cat server.txt)
  [ -z "$port" ] || break
  sleep 0.1
done
[ -n "$port" ] || fail "no server: $(cat server.log)"
at=http://127.0.0.1:$port

head -c 3000000 /dev/urandom >served.bin
md5=$(md5sum served.bin | cut -d ' ' -f 1)
sha=$(sha256sum served.bin | cut -d ' ' -f 1)
# get PATH SUM ARGUMENT…: as the program does, into got.bin.
get() { "$DOWNLOAD_TOOL" "$at/$1" got.bin "${@:2}" 2>err.txt; }
# refused PATTERN PATH SUM ARGUMENT…
refused() {
  local pattern=$1
  shift
  if get "$@"; then fail "$* was taken"; fi
  grep -qE -- "$pattern" err.txt || fail "$*: expected '$pattern', found: $(cat err.txt)"
  [ ! -e got.bin ] || fail "$*: something is called got.bin"
}
requests() { python3 "$SOURCE/tests/integration/fetch_server.py" requests server.log; }

# Whole, by either sum; a second time nothing is got.
get served.bin $md5 || fail "$(cat err.txt)"
cmp served.bin got.bin || fail "other bytes"
[ ! -e got.bin.part ] || fail "a part is left"
before=$(requests | wc -l)
get served.bin $sha || fail "$(cat err.txt)"
[ "$(requests | wc -l)" -eq "$before" ] || fail "it was got again"
# One that is there and wrong is not touched.
echo mine >got.bin
if get served.bin $md5; then fail "a wrong file was taken for the right one"; fi
grep -q 'is there, and its MD5 is not' err.txt || fail "$(cat err.txt)"
[ "$(cat got.bin)" = mine ] || fail "a file of the user's was written over"
rm got.bin

# Broken off in the middle: what has come is kept, and the rest alone is asked for.
refused 'the next download resumes it' broken/served.bin $md5
[ "$(stat -c %s got.bin.part)" -eq 1000000 ] || fail "part of $(stat -c %s got.bin.part) bytes"
get served.bin $md5 || fail "$(cat err.txt)"
requests | tail -n 1 | grep -q 'bytes=1000000-' || fail "not resumed: $(requests | tail -n 1)"
cmp served.bin got.bin || fail "other bytes after resuming"
rm got.bin
# By a server that knows no ranges, and one that has no more.
head -c 1234 served.bin >got.bin.part
get plain/served.bin $md5 || fail "$(cat err.txt)"
cmp served.bin got.bin || fail "other bytes from a server without ranges"
rm got.bin
cp served.bin got.bin.part
get served.bin $md5 || fail "a part that is whole: $(cat err.txt)"
rm got.bin
# A part of something else is noticed, and all of it got.
head -c 5000 /dev/urandom >got.bin.part
get served.bin $md5 || fail "a part of something else: $(cat err.txt)"
cmp served.bin got.bin || fail "other bytes after a wrong part"
rm got.bin

# Redirects: some, not many, and nowhere but to http.
get redirect/3/served.bin $md5 || fail "$(cat err.txt)"
rm got.bin
refused 'redirects more than 5 times' redirect/6/served.bin $md5
refused 'allowed: addresses that begin with http' away/served.bin $md5
# What is not what was published; what is too large, also without saying so; what is not there.
refused "has the MD5 $md5, but 0000" served.bin 00000000000000000000000000000000
[ ! -e got.bin.part ] || fail "wrong bytes were kept"
refused 'is larger than 1.00 MB' served.bin $md5 1000000
rm -f got.bin.part
refused 'is larger than 1.00 MB' endless/served.bin $md5 1000000
rm -f got.bin.part
refused 'answered with HTTP status 404' nothing.bin $md5
refused 'answered with HTTP status 503' busy/served.bin $md5
if "$DOWNLOAD_TOOL" "file://$work/served.bin" got.bin $md5 2>err.txt; then fail "a file was taken for an address"; fi
grep -q 'allowed: addresses that begin with http' err.txt || fail "$(cat err.txt)"
rm -f got.bin.part
# Stopped by a person.
refused 'stopped; the partial file is kept' slow/served.bin $md5 3000000 5 100000
rm -f got.bin.part

# The command: sums are those of the authors, whatever the mirror.
mkdir -p mirror
for name in train-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz; do
  head -c 1000 /dev/urandom >mirror/$name
done
expect_error 'has the MD5 [0-9a-f]{32}, but 8d4fb7e6c68d591d4c3dfef9ec88bf0d was published' \
  data fetch fashion-mnist --data-dir data --from "$at/mirror"
[ -z "$(ls data/fashion-mnist)" ] || fail "something of a wrong mirror was kept: $(ls data/fashion-mnist)"
expect_error 'no folder given' data fetch cifar10
expect_error "unknown data set to fetch 'cifar1'; did you mean 'cifar10'" data fetch cifar1 --data-dir data
expect_error 'doi.org/10.1016/j.dib.2023.109809' data fetch har --data-dir data
expect_error 'nothing to get' data fetch glyphs --data-dir data
code=0
"$TRIBUTARY" data fetch mnist --data-dir data --from http://127.0.0.1:1/ 2>err.txt || code=$?
[ "$code" -eq 1 ] && grep -q "cannot get http://127.0.0.1:1/train-images" err.txt || fail "a server that is not there: $code $(cat err.txt)"

# With the authors' files, where this machine has them: FASHION_MNIST=DIR, CIFAR10=FILE.tar.gz.
if [ -n "${FASHION_MNIST:-}" ]; then
  rm -rf mirror data
  mkdir mirror
  cp "$FASHION_MNIST"/*-ubyte.gz mirror
  expect_output '^fashion-mnist: 60000 training and 10000 test samples' data fetch fashion-mnist --data-dir data --from "$at/mirror"
fi
