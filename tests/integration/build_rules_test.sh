# What the house rules forbid is found: a test that is in no list, and an include that reaches down.
. "$(dirname "$0")/lib.sh"

mkdir tree
cp -r "$SOURCE"/{CMakeLists.txt,CMakePresets.json,cmake,proto,src} tree
configure() { (cd tree && cmake --preset tsan) >out.txt 2>&1; }
configure || fail "an untouched tree does not configure: $(tail -5 out.txt)"

touch tree/src/tributary/base/forgotten_test.cc
configure && fail "an unregistered test was accepted"
grep -q 'forgotten_test.cc is in no' out.txt || fail "not said: $(cat out.txt)"
rm tree/src/tributary/base/forgotten_test.cc

includes() { "$SOURCE/scripts/check_includes" tree >out.txt 2>&1; }
includes || fail "an untouched tree has includes against the rules: $(head -5 out.txt)"
echo '#include "tributary/model/graph.h"' >>tree/src/tributary/base/clock.cc
includes && fail "base/ was allowed to include model/"
grep -q 'base/clock.cc includes tributary/model/graph.h' out.txt || fail "not said: $(cat out.txt)"
cp "$SOURCE"/src/tributary/base/clock.cc tree/src/tributary/base/clock.cc

echo '#include <openssl/ssl.h>' >>tree/src/tributary/base/clock.cc
includes && fail "base/ was allowed to include OpenSSL"
grep -q 'only keys/ may' out.txt || fail "not said: $(cat out.txt)"
cp "$SOURCE"/src/tributary/base/clock.cc tree/src/tributary/base/clock.cc

sed -i 's/^  DEPENDS base$/  DEPENDS base policy/' tree/src/tributary/model/CMakeLists.txt
includes && fail "model/ was allowed to use policy/, which comes after it"
grep -q 'model/ declares that it uses policy/, which comes after it' out.txt || fail "not said: $(cat out.txt)"

# Rules for the sources, of which no compiler says anything.
"$SOURCE"/scripts/rules "$SOURCE" || fail "the sources break the rules above"
mkdir -p few/src/tributary
cp -r "$SOURCE"/src/tributary/{base,library,store} few/src/tributary
refused() { # FILE LINES PATTERN: what is added to the file is refused in these words
  cp "few/src/tributary/$1" kept.txt
  printf '%s\n' "$2" >>"few/src/tributary/$1"
  "$SOURCE"/scripts/rules few >out.txt 2>&1 && fail "accepted in $1: $2"
  grep -q "$3" out.txt || fail "not said of $1, $2: $(cat out.txt)"
  cp kept.txt "few/src/tributary/$1"
}
accepted() { # FILE LINES
  cp "few/src/tributary/$1" kept.txt
  printf '%s\n' "$2" >>"few/src/tributary/$1"
  "$SOURCE"/scripts/rules few >out.txt 2>&1 || fail "refused in $1, $2: $(cat out.txt)"
  cp kept.txt "few/src/tributary/$1"
}
twice='is defined more than once'
refused store/comparison.h 'namespace tributary::inline store { class StatusOr final : Base<int> {}; }' "tributary::StatusOr $twice: .*base/status.*store/comparison.h"
refused store/comparison.cc 'namespace tributary::inline store { enum class [[nodiscard]] StatusCode : int { kOk }; }' "tributary::StatusCode $twice"
refused store/comparison.cc 'struct tributary::WorkerPool { };' "tributary::WorkerPool $twice"
refused base/rng_test.cc 'namespace tributary::inline base { struct RunResult {}; }' "tributary::RunResult $twice"
refused base/rng_test.cc 'struct Fake {}; namespace { } struct Fake {};' "Fake $twice"
refused base/clock.cc 'namespace tributary {' 'base/clock.cc was not understood'
accepted store/comparison.cc 'namespace tributary::inline store { namespace { struct StatusOr {}; } void F() { struct Status {}; } class Rng; }'
accepted store/comparison.cc '// struct Status {};
const char* text = R"(namespace tributary { struct Status {}; })"; namespace tributary::inline store::other { struct Status {}; }'
accepted store/comparison.cc 'namespace tributary::inline store { struct Status {};  // Second definition: a reason
}'
refused base/clock.cc 'auto few = many | std::views::take(3);' 'base/clock.cc:.* uses std::views'
refused base/clock.cc 'std::mutex mutex;' 'base/clock.cc:.* uses std::mutex'
refused base/clock.h 'inline void F() { std::lock_guard lock(m); }' 'base/clock.h:.* uses std::lock_guard'
accepted base/clock.cc 'std::shared_mutex mutex;  // Unchecked lock: a reason'
accepted base/rng_test.cc 'std::mutex mutex;  // std::mutex'
refused store/comparison.cc 'inline namespace other { struct Fake {}; } struct Fake {};' "Fake $twice"
own="opens namespace .*; this folder's is tributary::inline"
refused store/comparison.cc 'namespace tributary { int F(); }' "store/comparison.cc:[0-9]* $own store"
refused store/comparison.cc 'namespace tributary::store { int F(); }' "$own store"
refused store/comparison.cc 'namespace tributary::inline base { int F(); }' "opens namespace tributary::inline base; "
refused store/comparison.cc 'namespace tributary::testing { int F(); }' "$own store"
accepted store/comparison.cc 'namespace tributary::inline base { class Rng; struct Status; } namespace other { int F(); }'
accepted base/rng_test.cc 'namespace tributary::testing { int F(); } namespace tributary::inline base::inner { int G(); }'
mkdir -p few/src/tributary/fleet/grpc few/src/tributary/policy/sampling
echo 'namespace tributary::inline rpc { int F(); }' >few/src/tributary/fleet/grpc/f.cc
echo 'namespace tributary::inline policy { int F(); }' >few/src/tributary/policy/sampling/f.cc
accepted fleet/grpc/f.cc ''
refused fleet/grpc/f.cc 'namespace tributary::inline fleet { int F(); }' "$own rpc"
refused policy/sampling/f.cc 'namespace tributary::inline sampling { int F(); }' "$own policy"
refused store/comparison.cc 'namespace tributary::inline store {

int F();
}' "store/comparison.cc:[0-9]* closes a namespace: '}  // namespace tributary::inline store'"
refused store/comparison.cc 'namespace {

int F();
}  // namespace store' "closes a namespace: '}  // namespace'"
