# The JSON Schema of experiment files, with a validator from PyPI: every preset validates, and twenty typical mistakes do not.
. "$(dirname "$0")/lib.sh"

"$TRIBUTARY" schema >schema.json
cmp schema.json "$SOURCE/presets/experiment.schema.json" ||
  fail "presets/experiment.schema.json is not what the program prints; write it anew: tributary schema >presets/experiment.schema.json"
expect_output '^  value    a whole number from 1 to 1000000$' explain train.batch
expect_output '^train.server-optimiser.tau +Larger adapts' explain
expect_output '"key": "fleet.group.count"' explain fleet.group.phones.count --json
expect_error "did you mean 'train.batch'" explain train.bach

"$SOURCE/scripts/python" fetch || skip "the schema's validator (without Python's tools; see above)"
"$SOURCE/scripts/python" run "$SOURCE/tests/integration/schema_tools.py" schema.json "$SOURCE/presets" || fail "schema_tools.py"
