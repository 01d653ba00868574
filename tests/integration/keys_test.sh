# `tributary keys`: what is on disk and who may read it, certificates as OpenSSL's own tool judges them, revocation, and
# every mistake answered without a change.
. "$(dirname "$0")/lib.sh"
umask 000  # Nothing may rely on a careful one.

expect_output 'keys/coordinator and keys/revoked.pem are for the coordinator' keys init
expect_output 'scp -pr keys/devices/pi-3 pi-3:' keys device pi-3
expect_output '"bundle": "keys/devices/pi-4"' keys device pi-4 --days 30 --json
for folder in keys keys/coordinator keys/operator keys/devices keys/devices/pi-3; do
  [ "$(stat -c %a $folder)" = 700 ] || fail "$folder has mode $(stat -c %a $folder)"
done
find keys -name '*key*' -type f >found.txt
[ "$(wc -l <found.txt)" -eq 5 ] || fail "expected five keys: $(cat found.txt)"
while read -r key; do [ "$(stat -c %a "$key")" = 600 ] || fail "$key has mode $(stat -c %a "$key")"; done <found.txt
[ -z "$(find keys -name '.*')" ] || fail "left behind: $(find keys -name '.*')"

# The judgement of another program.
if command -v openssl >/dev/null; then
  openssl x509 -in keys/ca.pem -noout -text >text.txt
  for words in 'CA:TRUE, pathlen:0' 'Certificate Sign, CRL Sign' 'prime256v1' 'Subject: CN = Tributary authority'; do
    grep -q "$words" text.txt || fail "ca.pem does not say '$words': $(cat text.txt)"
  done
  openssl x509 -in keys/devices/pi-3/cert.pem -noout -text >text.txt
  for words in 'CA:FALSE' 'DNS:pi-3.tributary' 'Web Server Authentication, TLS Web Client' 'Digital Signature' \
      'Subject: CN = pi-3' 'Subject Key Identifier' 'Authority Key Identifier' 'prime256v1'; do
    grep -q "$words" text.txt || fail "the certificate does not say '$words': $(cat text.txt)"
  done
  for bundle in keys/coordinator keys/operator keys/devices/pi-3 keys/devices/pi-4; do
    for purpose in sslclient sslserver; do
      [ $bundle$purpose != keys/operatorsslserver ] || continue  # It is no server.
      openssl verify -x509_strict -purpose $purpose -verify_hostname "$(basename $bundle).tributary" -CAfile keys/ca.pem \
        -crl_check -CRLfile keys/revoked.pem $bundle/cert.pem >text.txt 2>&1 || fail "$bundle: $(cat text.txt)"
    done
    cmp -s <(openssl pkey -in $bundle/key.pem -pubout) <(openssl x509 -in $bundle/cert.pem -noout -pubkey) ||
      fail "$bundle: key and certificate differ"
  done
elif [ "${CI:-}" = true ]; then
  fail "the openssl tool is not installed"
fi

# Revocation and renewal.
cp keys/devices/pi-3/cert.pem first.pem
expect_output "every certificate of 'pi-3' is revoked" keys revoke pi-3
expect_output '^pi-3 +device +revoked ' keys list
expect_output "holds the key and certificate of 'pi-3'" keys device pi-3
cp keys/devices/pi-3/cert.pem second.pem
expect_output 'revokes the old certificate' keys device pi-3 --renew
expect_output 'a coordinator that runs with this folder takes it over by itself' keys coordinator --renew
"$TRIBUTARY" keys list --json >list.json
[ "$(grep -c '"state": "revoked"' list.json)" -eq 3 ] || fail "expected three revoked: $(cat list.json)"
[ "$(grep -c '"state": "valid"' list.json)" -eq 4 ] || fail "expected four valid: $(cat list.json)"
if command -v openssl >/dev/null; then
  openssl crl -in keys/revoked.pem -CAfile keys/ca.pem -noout >text.txt 2>&1
  grep -q 'verify OK' text.txt || fail "the list is not signed: $(cat text.txt)"
  verify() { openssl verify -CAfile keys/ca.pem -crl_check -CRLfile keys/revoked.pem "$1" >text.txt 2>&1; }
  for old in first.pem second.pem; do
    verify $old && fail "$old is still accepted"
    grep -q 'certificate revoked' text.txt || fail "$old: $(cat text.txt)"
  done
  verify keys/devices/pi-3/cert.pem || fail "the renewed certificate: $(cat text.txt)"
  openssl x509 -in keys/devices/pi-4/cert.pem -noout -serial | sed 's/serial=//' >serial.txt
  grep -q "$(cat serial.txt)" keys/issued.txt || fail "issued.txt does not have pi-4's serial number"
fi

# The list ends: after 90 days, or when it was said.
days_left() { echo $((($(openssl crl -in keys/revoked.pem -noout -nextupdate | sed 's/nextUpdate=//' | xargs -0 date +%s -d) - $(date +%s) + 43200) / 86400)); }
if command -v openssl >/dev/null; then
  [ "$(days_left)" -eq 90 ] || fail "the list is not valid for 90 days"
  expect_output 'keys/revoked.pem is valid until' keys renew-list --list-days 7
  [ "$(days_left)" -eq 7 ] || fail "the list is not valid for 7 days"
fi
expect_error 'a revocation list cannot be valid for 0 days; allowed: 1 to 36500' keys renew-list --list-days 0

# A key that is made where it is used. OpenSSL's requests are taken, too.
expect_output "onboard/key.pem is the key of 'pi-7'; it stays on this machine" keys request pi-7 --out onboard
[ "$(stat -c %a onboard onboard/key.pem | tr '\n' ' ')" = '700 600 ' ] || fail "onboard: $(ls -la onboard)"
expect_output "keys/devices/pi-7 holds the certificate of 'pi-7', valid until" keys sign onboard/request.csr
[ ! -e keys/devices/pi-7/key.pem ] || fail "the authority has the key of pi-7"
expect_error "'pi-7' has a certificate that is valid until .*--renew" keys sign onboard/request.csr
expect_error 'onboard exists' keys request pi-7 --out onboard
expect_error 'keys/ca.pem: not a certificate request' keys sign keys/ca.pem
if command -v openssl >/dev/null; then
  openssl req -in onboard/request.csr -verify -noout >text.txt 2>&1 && grep -qi 'verif.* OK' text.txt ||
    fail "OpenSSL does not accept the request: $(cat text.txt)"
  openssl verify -CAfile keys/ca.pem keys/devices/pi-7/cert.pem >/dev/null || fail "the certificate of pi-7"
  cmp -s <(openssl pkey -in onboard/key.pem -pubout) <(openssl x509 -in keys/devices/pi-7/cert.pem -noout -pubkey) ||
    fail "the certificate of pi-7 is of another key"
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout own.pem -subj /CN=pi-8 -out own.csr 2>/dev/null
  expect_output "holds the certificate of 'pi-8'" keys sign own.csr
  openssl req -new -newkey rsa:2048 -nodes -keyout own.pem -subj /CN=pi-9 -out rsa.csr 2>/dev/null
  expect_error 'rsa.csr: the key of the certificate request is not ECDSA P-256' keys sign rsa.csr
fi

# Roles. A request is for a device unless it is said.
expect_output "keys/observers/alice holds the key and certificate of 'alice' \\(observer\\)" keys observer alice
expect_output "keys/operators/bob holds the key" keys operator bob
expect_output '^alice +observer +valid ' keys list
expect_error "'alice' has a certificate as an observer; revoke it first" keys operator alice
expect_error "the name is reserved" keys observer operator
expect_output "carol/key.pem is the key of 'carol'" keys request carol
expect_output 'keys/observers/carol holds the certificate' keys sign carol/request.csr --role observer
"$TRIBUTARY" keys request operator --out asked >/dev/null
expect_error "the name is reserved" keys sign asked/request.csr
expect_error '--role' keys sign carol/request.csr --role root

# A new authority beside the old one, and then in its place.
"$TRIBUTARY" keys init --dir two >/dev/null
"$TRIBUTARY" keys device pi-1 --dir two >/dev/null
cp two/ca.pem first-ca.pem
expect_error 'two has no previous authority' keys retire --dir two
expect_output 'two has a new authority beside the previous one' keys rotate --dir two
expect_error 'two has a previous authority already' keys rotate --dir two
[ "$(grep -c BEGIN two/devices/pi-1/ca.pem)$(grep -c BEGIN two/revoked.pem)" = 22 ] || fail "not both authorities: $(ls -R two)"
expect_error 'previous authority only: coordinator, operator, pi-1' keys retire --dir two
for party in coordinator operator 'device pi-1'; do
  # shellcheck disable=SC2086
  "$TRIBUTARY" keys $party --renew --dir two >/dev/null
done
expect_output '^pi-1 +device +valid \(previous authority\)' keys list --dir two
expect_output 'the previous authority is gone' keys retire --dir two
[ "$(grep -c BEGIN two/devices/pi-1/ca.pem)$(grep -c BEGIN two/revoked.pem)" = 11 ] || fail "not one authority: $(ls -R two)"
if command -v openssl >/dev/null; then
  openssl verify -CAfile two/ca.pem -crl_check -CRLfile two/revoked.pem two/devices/pi-1/cert.pem >text.txt 2>&1 || fail "$(cat text.txt)"
  openssl verify -CAfile first-ca.pem two/devices/pi-1/cert.pem >text.txt 2>&1 && fail "the old authority signed the new certificate"
fi

# A key of the authority that takes a passphrase.
(umask 077 && echo 'correct horse battery' >passphrase.txt && echo 'wrong horse battery' >wrong.txt)
expect_output 'the authority of a new fleet is in sealed' keys init --dir sealed --encrypt --passphrase-file passphrase.txt
grep -q 'BEGIN ENCRYPTED PRIVATE KEY' sealed/ca.key || fail "ca.key is not encrypted"
expect_error 'sealed/ca.key: the passphrase is not that of this key' keys device pi-1 --dir sealed --passphrase-file wrong.txt
expect_output 'holds the key and certificate' keys device pi-1 --dir sealed --passphrase-file passphrase.txt
expect_output 'is revoked' keys revoke pi-1 --dir sealed --passphrase-file passphrase.txt
expect_output 'is valid until' keys renew-list --dir sealed --passphrase-file passphrase.txt
chmod 644 passphrase.txt
expect_error 'passphrase.txt is a secret.*chmod 600' keys device pi-2 --dir sealed --passphrase-file passphrase.txt
expect_error '--encrypt' keys init --dir open --passphrase-file wrong.txt
if command -v openssl >/dev/null; then
  openssl pkey -in sealed/ca.key -passin file:passphrase.txt -pubout 2>/dev/null | cmp -s - <(openssl x509 -in sealed/ca.pem -noout -pubkey) ||
    fail "OpenSSL does not read the encrypted key"
fi
if command -v script >/dev/null; then
  # Types when it is asked; the sleep is for the terminal, which stops to show what is typed after the question.
  : >typed.txt
  typed() {
    { for i in {1..600}; do grep -q 'Passphrase of' typed.txt && break; sleep 0.1; done; sleep 1; printf '%s\n' "$1"; } |
      timeout 90 script -qefc "'$TRIBUTARY' keys device pi-3 --dir sealed" /dev/null >typed.txt 2>&1
  }
  typed 'correct horse battery' || fail "typed at the terminal: $(cat typed.txt)"
  grep -q 'Passphrase of sealed/ca.key:' typed.txt || fail "not asked for: $(cat typed.txt)"
  grep -q 'horse' typed.txt && fail "the passphrase is shown"
  [ -e sealed/devices/pi-3/cert.pem ] || fail "no certificate after the passphrase was typed"
fi

# Mistakes. None changes anything.
tar cf before.tar --sort=name keys
expect_error 'keys holds an authority already' keys init
expect_error "'pi-3' has a certificate that is valid until .*--renew" keys device pi-3
for name in ../x .. a/b Pi-3 a_b 'a b' "$(printf 'a%.0s' {1..64})" /etc/x; do
  expect_error "a device cannot be called '.*allowed: 1 to 63 of a-z" keys device "$name"
done
expect_error "the name is reserved" keys device coordinator
expect_error "unknown party 'pi-9'" keys device pi-9 --renew
expect_error "unknown party 'pi-33'; did you mean 'pi-3'\?" keys revoke pi-33
expect_error "is not the folder of an authority" keys list --dir none
expect_error 'allowed: 1 to 36500' keys device pi-5 --days 0
expect_error '--days' keys device pi-5 --days many
expect_error 'name is required' keys device
expect_error '[Ss]ubcommand is required' keys
expect_error "unknown option of 'tributary keys device': '--dirr'; did you mean '--dir'\?" keys device pi-5 --dirr x
chmod 644 keys/ca.key
expect_error 'ca.key is a secret.*mode 0644.*chmod 600 keys/ca.key' keys device pi-5
chmod 600 keys/ca.key
tar cf after.tar --sort=name keys
cmp -s before.tar after.tar || fail "a mistake changed the folder"
expect_output 'tributary keys device pi-3 --renew' keys --help
