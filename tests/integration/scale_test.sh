# A thousand devices: the list of runs, comparison and report of a run of so many, its page in a real browser while ten thousand rounds are
# played, and what the page holds by then. RECORDED rounds are written to disk, PLAY is for how many seconds the page looks on.
. "$(dirname "$0")/lib.sh"

recorded=${RECORDED:-300}
export TRIBUTARY_STORE=runs.sqlite
"$RUN_PLAYER" record many runs.sqlite 1000 "$recorded" >record.log
cat record.log
grep -q " 0 events of devices came too fast for it" record.log || fail "the store missed events"
expect_output "^ 1  many .* 1000 +$recorded/$recorded .* finished$" runs
expect_output "and 968 more" runs show many
expect_output '^many +federated ' compare many
[ -e "$SOURCE/web/dist/index.html" ] || skip "the page of a thousand devices (it was built without Node)"
expect_output '^wrote .*/many/report.html; open it in a browser$' report 1
size=$(stat -c %s many/report.html)
[ "$size" -lt 1500000 ] || fail "the report of a thousand devices has $size bytes"

"$SOURCE/scripts/web" >web.log 2>&1 || skip "the page of a thousand devices (without Node's packages: $(tail -n 1 web.log))"
[ -x /usr/bin/chromium ] || skip "the page of a thousand devices (there is no Chromium; scripts/setup browser)"
export SCREENSHOTS=${SCREENSHOTS:-$SOURCE/web/screenshots}
(cd "$SOURCE/web" && PLAYER=$RUN_PLAYER REPORT=$work/many/report.html PLAY=${PLAY:-12} node --test tests/scale.test.mjs) >browser.log 2>&1 ||
  fail "in the browser: $(grep -vE '^# (pass|cancelled|skipped|todo)' browser.log | tail -n 60)"
grep -E '^# .*(paint|heap|used)' browser.log
