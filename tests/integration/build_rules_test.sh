# The build refuses what the house rules forbid: a test that is in no list, and an include that reaches down.
. "$(dirname "$0")/lib.sh"

mkdir tree
cp -r "$SOURCE"/{CMakeLists.txt,CMakePresets.json,cmake,src} tree
configure() { (cd tree && cmake --preset tsan) >out.txt 2>&1; }
configure || fail "an untouched tree does not configure: $(tail -5 out.txt)"

touch tree/src/tributary/base/forgotten_test.cc
configure && fail "an unregistered test was accepted"
grep -q 'forgotten_test.cc is in no' out.txt || fail "not said: $(cat out.txt)"
rm tree/src/tributary/base/forgotten_test.cc

echo '#include "tributary/model/graph.h"' >>tree/src/tributary/base/clock.cc
configure && fail "base/ was allowed to include model/"
grep -q 'base/clock.cc includes' out.txt || fail "not said: $(cat out.txt)"
cp "$SOURCE"/src/tributary/base/clock.cc tree/src/tributary/base/clock.cc

echo '#include <openssl/ssl.h>' >>tree/src/tributary/base/clock.cc
configure && fail "base/ was allowed to include OpenSSL"
grep -q 'only keys/ may' out.txt || fail "not said: $(cat out.txt)"
