# Shared by the integration tests: real processes, exit codes, messages. Sourced with TRIBUTARY set to the program.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset TRIBUTARY_DATA

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect_error PATTERN ARGUMENT…: exits with 2, prints nothing on standard output past a heading, and says PATTERN.
expect_error() {
  local pattern=$1 code=0
  shift
  "$TRIBUTARY" "$@" >out.txt 2>err.txt || code=$?
  [ "$code" -eq 2 ] || fail "tributary $*: exit code $code, expected 2: $(cat err.txt)"
  grep -qE -- "$pattern" err.txt || fail "tributary $*: expected '$pattern', found: $(cat err.txt)"
  rm -f out.txt err.txt
}

# expect_output PATTERN ARGUMENT…: succeeds and prints PATTERN.
expect_output() {
  local pattern=$1
  shift
  "$TRIBUTARY" "$@" >out.txt 2>err.txt || fail "tributary $*: $(cat err.txt)"
  grep -qE -- "$pattern" out.txt || fail "tributary $*: expected '$pattern', found: $(tail -n 40 out.txt)"
}

# bytes HEX…: writes these bytes.
bytes() { printf "$(printf '\\x%s' "$@")"; }

# npy DESCR SHAPE: the header of a NumPy array, version 1.0, padded to 128 bytes.
npy() {
  local text="{'descr': '$1', 'fortran_order': False, 'shape': ($2), }"
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$text"
}

skip() {
  echo "SKIPPED: $*"
  if [ "${CI:-}" = true ]; then fail "nothing may be skipped in CI"; fi
  exit 77
}
