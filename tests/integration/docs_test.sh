# The documentation site builds without warnings, and a dead link is found.
. "$(dirname "$0")/lib.sh"

mkdir tree
(cd "$SOURCE" && git ls-files -z --cached --others --exclude-standard 2>/dev/null || find . -type f -not -path './build/*' -print0) |
  (cd "$SOURCE" && grep -zE '(^|/)(docs|README|CONTRIBUTING|CHANGELOG|LICENSE|proto|examples|presets|scripts)' | xargs -0 cp --parents -t "$work/tree")
links() { tree/scripts/docs links >out.txt 2>&1; }
links || fail "$(cat out.txt)"
for mistake in '[x](no-such-page.md)' '[x](data.md#no-such-heading)' '[x](../../outside.md)'; do
  cp "$SOURCE/docs/data.md" tree/docs/data.md
  echo "$mistake" >>tree/docs/data.md
  links && fail "$mistake was not found"
  grep -q '^docs/data.md: ' out.txt || fail "$mistake: $(cat out.txt)"
done
cp "$SOURCE/docs/data.md" tree/docs/data.md
echo '# New' >tree/docs/new.md
links && fail "a page that is in no menu was not found"
rm tree/docs/new.md
# Every test that the security page names exists.
tests_named() { sed -n '/^## Attacks/,/^## Who/p' tree/docs/security.md | grep '^|' | grep -oE '`[A-Za-z]+\.[A-Za-z_]+`' | tr -d '`' | sort -u; }
[ "$(tests_named | wc -l)" -gt 30 ] || fail "docs/security.md names few tests: $(tests_named)"
(cd "$SOURCE" && grep -rhE '^TEST(_F|_P)?\(' src --include='*_test.cc' | sed -E 's/^TEST(_F|_P)?\(([A-Za-z]+), *([A-Za-z0-9]+)\).*/\2.\3/'
  cd tests && ls integration/*_test.sh scenarios/*.toml | sed -E 's#integration/(.*)_test.sh#integration.\1#; s#scenarios/(.*).toml#scenario.\1#') | sort -u >tests.txt
missing=$(tests_named | comm -23 - tests.txt)
[ -z "$missing" ] || fail "docs/security.md names tests that do not exist: $missing"
# In code it is text.
printf '`[x](no-such-page.md)`\n' >>tree/docs/data.md
links || fail "$(cat out.txt)"

command -v mkdocs >/dev/null || skip "the documentation site (needs mkdocs)"
tree/scripts/docs >out.txt 2>&1 || fail "$(cat out.txt)"
[ -s tree/build/docs/site/index.html ] && [ -s tree/build/docs/site/methods/scadles.html ] || fail "no site"
