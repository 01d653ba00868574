# The dashboard of a simulated run and of a real fleet in a real browser, and the report from disk.
. "$(dirname "$0")/fleet_lib.sh"

[ -e "$SOURCE/web/dist/index.html" ] || skip "dashboard (its page was built without Node)"
"$SOURCE/scripts/web" >web.log 2>&1 || skip "dashboard (without Node's packages: $(tail -n 1 web.log))"
[ -x /usr/bin/chromium ] || skip "dashboard (there is no Chromium; scripts/setup browser)"
export SCREENSHOTS=${SCREENSHOTS:-$SOURCE/web/screenshots}
in_browser() { (cd "$SOURCE/web" && node --test "tests/$1.test.mjs") >browser.log 2>&1 || fail "in the browser: $(grep -vE '^# (pass|cancelled|skipped|todo)' browser.log | tail -n 60)"; }
# await_page NAME: sets $page, with the token of token.txt.
token=0123456789abcdef0123456789abcdef
(umask 077 && echo $token >token.txt)
await_page() {
  await "$1" '^its token is'
  page=$(sed -n 's/^dashboard at //p' "$1.log" | tail -n 1)?token=$token
}

# A simulated run: the page loads, moves, fits a phone, and its report has the numbers that the page ended with.
start run "$TRIBUTARY" run distreal --out run --dashboard --dashboard-token token.txt --set experiment.rounds=60 --set data.train-limit=2400 --set data.test-limit=200
await_page run
TRIBUTARY_URL=$page REPORT=$work/run/report.html in_browser live
expect_end 0 run
[ -s run/report.html ] && says run '^report run/report.html$' || fail "no report was written"

# The same from the run's folder, and as JSON.
cp run/report.html kept.html
expect_output '^wrote run/report.html; open it in a browser$' report run
cmp -s run/report.html kept.html || fail "the report of the folder is not the one of the run"
"$TRIBUTARY" report run --json >board.json
accuracy=$(sed -n 's/^  "accuracy": \([0-9.]*\),$/\1/p' run/summary.json)
grep -q "\"state\":\"finished\".*\"accuracy\":$accuracy," board.json || fail "the report's accuracy is not $accuracy: $(cut -c 1-600 board.json)"
# By what the list of runs knows it by, too.
rm run/report.html
expect_output '^wrote .*/run/report.html; open it in a browser$' report last
cmp -s run/report.html kept.html || fail "the report of the last run is not that of the folder"
expect_error "unknown run 'nowhere'" report nowhere
expect_error "there is no run in nowhere: it has no events.jsonl; and " report nowhere --store none.sqlite

# What is wrong with an address is said, and the run does not begin.
expect_error "'here' is not an address; allowed: HOST:PORT" run smoke --dashboard here --out none
[ ! -e none ] || fail "a run began without its dashboard"

expect_error '--dashboard' run smoke --dashboard-token token.txt --out none
echo short >short.txt
expect_error 'short.txt is a secret' run smoke --dashboard --dashboard-token short.txt --out none
chmod 600 short.txt
expect_error 'short.txt holds no token; allowed: 16 to 128 letters' run smoke --dashboard --dashboard-token short.txt --out none

# There is a token, without which nothing is told, for other users of this machine too. It is in no log.
answer() { curl -s -o /dev/null -w '%{http_code}' --max-time 10 "$@" || true; }
for listen in 0.0.0.0:0 127.0.0.1:0; do
  rm -rf open open.log
  start open "$TRIBUTARY" run distreal --out open --dashboard $listen --dashboard-token token.txt
  await_page open
  [[ $page =~ ^http://(localhost|127.0.0.1):([0-9]+)/\? ]] || fail "no address in $page"
  address=http://127.0.0.1:${BASH_REMATCH[2]}
  [ "$(answer "$address/api/board")" = 401 ] || fail "the board is told without the token"
  [ "$(answer "$address/api/board?token=$token")" = 200 ] || fail "the token is refused"
  [ "$(answer --path-as-is "$address/../../etc/passwd?token=$token")" = 404 ] || fail "there is something at a path that is not"
  says open $token && fail "the token is in the log"
  end open INT
done
rm -rf open open.log
start open "$TRIBUTARY" run distreal --out open --dashboard
await open '^its token is shown on a terminal only'
page=$(sed -n 's/^dashboard at //p' open.log)
[ "$(answer "${page}api/board")" = 401 ] || fail "the board is told without a token"
[ "$(answer -H 'Host: evil.example.org' "$page")" = 421 ] || fail "a page for another host is answered"
grep -q 'token=[0-9a-f]' open.log && fail "the token is in the log"
end open INT
# On a terminal the link has it.
if command -v script >/dev/null; then
  start shown script -qec "'$TRIBUTARY' run distreal --out shown --dashboard" /dev/null
  await shown '^dashboard at http://127.0.0.1:[0-9]+/\?token=[0-9a-f]{32}'
  page=$(sed -n 's/^dashboard at \([^[:space:]]*\).*/\1/p' shown.log | head -n 1)
  [ "$(answer "${page/\?/api/board?}")" = 200 ] || fail "the printed link is refused"
  end shown TERM
fi

# A real fleet.
devices=(pi-1 pi-2 pi-3)
make_keys "${devices[@]}"
write_experiment federated 100000
sed -i 's/^count = 4/count = 3/; s/^quorum = .*/quorum = 1/; s/^local-steps = .*/local-steps = 6/' tiny.toml
start_coordinator coordinator ./tiny.toml --out real --dashboard --dashboard-token token.txt --grace 1s
await_page coordinator
await_port coordinator
for name in "${devices[@]}"; do start_device $name; done
within $patience "a round" has_rounds real 1
cat >return.sh <<EOF
cd '$work' && setsid '$TRIBUTARY' device --keys keys --name pi-2 --join '$host:$port' --threads 1 --longest-wait 300ms >>again.log 2>&1 & echo \$! >'$work/again.pid'
EOF
TRIBUTARY_URL=$page DEVICE=pi-2 KILL="kill -KILL ${process_of[pi-2]}" RETURN="sh '$work/return.sh'" in_browser fleet
process_of[again]=$(cat again.pid)
grep -o 'gone after .*' browser.log
end coordinator INT
[ -s real/report.html ] || fail "no report of the real run"
