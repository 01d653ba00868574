# Samples through a real MQTT broker: none twice, and what is lost is what is reported.
. "$(dirname "$0")/stream_lib.sh"

have_mosquitto stream_mqtt

# Killed again and again: everything that was confirmed is in the spool, the rest comes again.
start_reader pi home-0 until=1500
await pi 'connected to mqtt'
publish steady --topic-prefix home- --rates 500 --samples 1500 --first-sequence 0
kill_reader_often pi 6 home-0 until=1500
expect_end 0 steady
expect_end 0 pi
expect_used pi 0 1499
says pi 'missing 0$' || fail "pi counted: $(tail -n 1 pi.log)"

# The same again is dropped; garbage is counted; a new run of the publisher is no gap.
rm pi.log
start_reader pi home-0 until=1600
await pi 'connected to mqtt'
says pi 'reading from 1500' || fail "pi begins: $(cat pi.log)"
"$TRIBUTARY" stream publish --to "$broker" --topic-prefix home- --rates 2000 --samples 200 --first-sequence 1300 --quiet >/dev/null
"$STREAM_READER" garbage "$broker" home-0
"$TRIBUTARY" stream publish --to "$broker" --topic-prefix home- --rates 2000 --samples 100 --first-sequence 9000 --quiet >/dev/null
expect_end 0 pi
cut -d' ' -f1 pi/used | tail -n 100 | cmp -s - <(seq 9000 9099) || fail "the new run: $(tail -n 2 pi/used)"
says pi 'used 1600 undecodable 1 duplicates 200 missing 0$' || fail "pi counted: $(tail -n 1 pi.log)"

# A reader that is away while more comes than the broker keeps for it. What is missing is what it says.
start_reader away field-0
await away 'connected to mqtt'
publish flood --topic-prefix field- --rates 1000 --samples 2500 --first-sequence 0
within $patience "first samples" has_used away 100
end away KILL
sleep 0.8
start_reader away field-0
expect_end 0 flood
within $patience "the last sample" grep -q '^2499 ' away/used
end away TERM
cut -d' ' -f1 away/used | sort -n | uniq -d >twice.txt
[ ! -s twice.txt ] || fail "used twice: $(head -n 3 twice.txt)"
lost=$((2500 - $(used away)))
[ $lost -gt 100 ] || fail "nothing was lost, so nothing is shown: $lost"
says away "missing $lost\$" || fail "$lost were lost, and it says: $(tail -n 1 away.log)"
echo "lost $lost, and said so"
# The number outlives the process.
start_reader away field-0
await away 'reading from 2500'
end away TERM
says away "missing $lost\$" || fail "forgotten: $(tail -n 1 away.log)"

# The broker is started again in the middle of a stream. It goes on by itself, and says so once.
start_reader calm yard-0 until=1200
await calm 'connected to mqtt'
publish long --topic-prefix yard- --rates 400 --samples 1200 --first-sequence 0
within $patience "some samples" has_used calm 200
end broker TERM
await calm 'cannot reach mqtt'
# Room for what the publisher sends at once if it is back before the reader.
queued=5000
start_mosquitto
expect_end 0 long
expect_end 0 calm
expect_used calm 0 1199
expect_said calm 1 'cannot reach mqtt'
expect_said calm 2 'connected to mqtt'

# What comes by, for somebody who only looks. The publisher may take a while before its first sample.
publish shown --topic-prefix view- --rates 300 --samples 100000
sees() { "$TRIBUTARY" stream inspect --from "$broker" --topic view-0 --for 1s --json >view.json && grep -qE '"samples": [1-9][0-9]+' view.json; }
within $patience "samples in: $(cat view.json 2>/dev/null)" sees
end shown KILL
expect_error 'cannot be a topic' stream inspect --from "$broker" --topic 'view-#'
expect_error "unknown setting of an MQTT broker 'usernam'; did you mean 'username'" stream publish --to "$broker" --rates 5 \
  --broker-setting usernam=me

# Secrets come from files that nobody else can read, and are never repeated.
for secret in '--to mqtt://me:hunter2@127.0.0.1' "--to $broker --broker-setting password=hunter2"; do
  expect_error 'password=@FILE' stream publish $secret --rates 5
  "$TRIBUTARY" stream publish $secret --rates 5 2>&1 | grep -q hunter2 && fail "the password is repeated: $secret"
done
expect_error 'password=@FILE' device --join 127.0.0.1 --insecure --name pi-1 --stream mqtt://me:hunter2@127.0.0.1/topic
echo hunter2 >password.txt
chmod 644 password.txt
expect_error 'password.txt is a secret.*chmod 600' stream publish --to "$broker" --rates 5 --broker-setting password=@password.txt
chmod 600 password.txt
expect_output 'secret-0' stream publish --to "$broker" --topic-prefix secret- --rates 1000 --samples 10 --quiet \
  --broker-setting username=me --broker-setting password=@password.txt
for command in "stream publish --to mqtt://192.0.2.1 --rates 5" "stream inspect --from mqtt://192.0.2.1 --topic t" \
    "device --join 127.0.0.1 --insecure --name pi-1 --stream mqtt://192.0.2.1/t"; do
  expect_error 'mqtt://192.0.2.1:1883 is not on this machine.*cafile=FILE.*insecure=yes' $command
done

# A broker that wants TLS with a client's certificate.
if command -v openssl >/dev/null; then
  certificate() { # NAME: a key and a certificate that signs itself
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.pem" -days 2 -subj "/CN=$1" \
      -addext subjectAltName=IP:127.0.0.1 2>/dev/null
  }
  certificate server
  certificate client
  tls_port=$((mqtt_port + 1))
  while listens $tls_port; do tls_port=$((tls_port + 1)); done
  cat >tls.conf <<END
listener $tls_port 127.0.0.1
cafile $PWD/client.pem
certfile $PWD/server.pem
keyfile $PWD/server.key
require_certificate true
allow_anonymous true
user root
END
  start tls mosquitto -c tls.conf
  within $patience "the broker" listens $tls_port
  publish_tls() { "$TRIBUTARY" stream publish --to mqtt://127.0.0.1:$tls_port --rates 1000 --samples 5 --quiet --broker-setting cafile="$1" "${@:2}" >tls.txt 2>&1; }
  publish_tls server.pem --broker-setting certfile=client.pem --broker-setting keyfile=client.key || fail "TLS: $(cat tls.txt)"
  publish_tls server.pem && fail "the broker takes no certificate for one"
  publish_tls client.pem --broker-setting certfile=client.pem --broker-setting keyfile=client.key && fail "an unknown broker is trusted"
  publish_tls none.pem && fail "a file that is not there is taken"
  grep -q "does not take cafile=none.pem" tls.txt || fail "not said: $(cat tls.txt)"
  end tls TERM
fi

# Recordings are sent as they were made, each source to a topic of its own.
for person in ann bob cat; do
  mkdir -p people/$person
  awk 'BEGIN { print "x,timestamp,label"; for (i = 0; i < 400; ++i) printf "%d,%d,walk\n", i % 7, 10 * i }' >people/$person/1.csv
done
expect_output '^people-1 +13 +as recorded' stream publish --to "$broker" --topic-prefix people- --data ./people --recorded 10 --quiet
expect_error 'glyphs does not have' stream publish --to "$broker" --data glyphs --recorded 10
expect_error 'give either --rates, or --recorded' stream publish --to "$broker"
