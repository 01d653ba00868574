# The dashboard over TLS: whose certificate lets them watch needs no token, and nobody else sees anything.
. "$(dirname "$0")/fleet_lib.sh"

[ -e "$SOURCE/web/dist/index.html" ] || skip "dashboard_tls (the page was built without Node)"
command -v curl >/dev/null || skip "dashboard_tls (there is no curl)"
write_experiment federated 5000 sequential
make_keys pi-1
"$TRIBUTARY" keys observer alice >/dev/null
"$TRIBUTARY" keys init --dir other >/dev/null
(umask 077 && echo 0123456789abcdef0123456789abcdef >token.txt)
expect_error "--dashboard-tls uses the coordinator's keys" coordinator ./tiny.toml --insecure --dashboard --dashboard-tls --out none
expect_error '--dashboard' coordinator ./tiny.toml --dashboard-tls --out none
start_coordinator coordinator ./tiny.toml --out run --dashboard 127.0.0.1:0 --dashboard-tls --dashboard-token token.txt
await coordinator '^its token is in token.txt'
page=$(sed -n 's#^dashboard at https://127.0.0.1:\([0-9]*\)/$#\1#p' coordinator.log)
[ -n "$page" ] || fail "no address: $(cat coordinator.log)"

# answer CURL'S ARGUMENT…: the status of the board, 000 without one.
answer() {
  curl -s -o body.txt -w '%{http_code}' --max-time 10 --cacert keys/ca.pem \
    --connect-to "coordinator.tributary:$page:127.0.0.1:$page" "$@" "https://coordinator.tributary:$page/api/board" || true
}
with() { echo --cert "$1/cert.pem" --key "$1/key.pem"; }
# gets STATUS WHO ARGUMENT…
gets() {
  local found
  found=$(answer "${@:3}")
  [ "$found" = "$1" ] || fail "$2 gets $found, not $1"
}
gets 401 "somebody without token and certificate"
gets 200 "somebody with the token" -H "Authorization: Bearer $(cat token.txt)"
grep -q '"schema":1,"run"' body.txt || fail "that is no board: $(head -c 300 body.txt)"
for who in observers/alice operator coordinator; do
  # shellcheck disable=SC2046
  gets 200 "$who" $(with keys/$who)
done
# shellcheck disable=SC2046
gets 401 "a device" $(with keys/devices/pi-1)
# shellcheck disable=SC2046
gets 000 "an operator of another fleet" $(with other/operator)
"$TRIBUTARY" keys revoke alice >/dev/null
# shellcheck disable=SC2046
gets 401 "a revoked observer" $(with keys/observers/alice)
[ "$(curl -s -o /dev/null -w '%{http_code}' --max-time 5 "http://127.0.0.1:$page/api/board" || true)" != 200 ] || fail "there is plain HTTP"
grep -q "$(cat token.txt)" coordinator.log && fail "the token is in the log"
end coordinator INT
