# docs/compatibility.md is what the program prints.
. "$(dirname "$0")/lib.sh"

"$TRIBUTARY" compatibility >printed.md
cmp printed.md "$SOURCE/docs/compatibility.md" ||
  fail "docs/compatibility.md is not what the program decides; write it anew: tributary compatibility >docs/compatibility.md"

# As JSON, every pair is allowed, or refused and says why; and the page has as many of both.
"$TRIBUTARY" compatibility --json >printed.json
python3 - <<'PYTHON' || fail "the JSON and the page differ"
import json
pairs = [pair for decision in json.load(open("printed.json"))["decisions"] for pair in decision["methods"].values()]
allowed = sum(pair["allowed"] for pair in pairs)
page = open("printed.md").read()
assert all(pair["allowed"] != ("why" in pair) and pair["settings"] for pair in pairs)
assert (page.count(" yes |"), page.count(" no (")) == (allowed, len(pairs) - allowed), (allowed, len(pairs))
print(f"{allowed} pairs are allowed, {len(pairs) - allowed} refused")
PYTHON
