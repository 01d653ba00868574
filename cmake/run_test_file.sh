#!/usr/bin/env bash
# run_test_file.sh BINARY SOURCE: runs the suites that a test file defines, in one process. They are looked up when the test
# runs, so that a new one needs no new configuration.
set -euo pipefail
suites=$(sed -nE 's/^(TEST|TEST_F|TEST_P|TYPED_TEST)\(([A-Za-z0-9_]+).*/\2/p' "$2" | sort -u)
[ -n "$suites" ] || { echo "$2 defines no test" >&2; exit 1; }
filter=$(printf '%s\n' "$suites" | sed -E 's|(.*)|\1.*:*/\1.*|' | paste -sd :)
exec "$1" --gtest_filter="$filter" --gtest_brief=1
