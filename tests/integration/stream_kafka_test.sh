# Samples through a real Kafka broker: every one once, whoever is killed in between.
. "$(dirname "$0")/stream_lib.sh"

have_kafka stream_kafka
port=$(cat kafka/port)

# A reader that is there before its topic is; every offset from the first on; what lies there is what was sent.
start_reader first home-0 until=600
publish twins --topic-prefix home- --rates 1200,600 --samples 600 --split shards --json
expect_end 0 twins
expect_end 0 first
expect_used first 0 599
grep -q '"interrupted": false' twins.log || fail "publish: $(cat twins.log)"
"$TRIBUTARY" stream inspect --from "$broker" --topic home-0 --json >home.json
for line in '"samples": 600' '"undecodable": 0' '"first": 0' '"last": 599' '"end": 600' '"bytes": 3072'; do
  grep -q -- "$line" home.json || fail "inspect lacks $line: $(cat home.json)"
done
cut -d' ' -f2 first/used | sort -n | uniq -c | awk '{ print $2 ": " $1 }' >read.txt
tr -d '" ,' <home.json | sed -n 's/^\([0-9]\{1,2\}\):\([0-9]*\)$/\1: \2/p' | sort -n >lies.txt
cmp -s read.txt lies.txt || fail "labels differ: $(diff read.txt lies.txt)"

# From an offset.
start_reader later home-1 from=450 until=150
expect_end 0 later
expect_used later 450 599

# What is no sample, and a sample for another network, are passed over and counted.
"$STREAM_READER" garbage "$broker" home-1
mkdir flat
{ npy '|u1' '40, 4'; head -c 160 /dev/zero; } >flat/X.npy
{ npy '|u1' '40,'; for i in {1..20}; do bytes 00 01; done; } >flat/y.npy
"$TRIBUTARY" stream publish --to "$broker" --topic-prefix home- --data ./flat --rates 100,100 --samples 3 --quiet >/dev/null
"$TRIBUTARY" stream publish --to "$broker" --topic-prefix home- --rates 1000,1000 --samples 10 --quiet >/dev/null
start_reader picky home-1 from=590 until=20
expect_end 0 picky
cut -d' ' -f1 picky/used | cmp -s - <(seq 590 599; seq 604 613) || fail "picky used: $(tr '\n' ' ' <picky/used)"
says picky 'used 20 undecodable 4 duplicates 0 missing 0' || fail "picky counted: $(tail -n 1 picky.log)"
"$TRIBUTARY" stream inspect --from "$broker" --topic home-1 --position 598 --json >home.json
grep -q '"undecodable": 1' home.json || fail "inspect: $(cat home.json)"

# kill -9 of readers, one with a buffer that spills nearly all.
publish steady --topic-prefix busy- --rates 400,400 --samples 1600
start_reader roomy busy-0 until=1600
start_reader tight busy-1 until=1600 memory=20000
kill_reader_often roomy 4 busy-0 until=1600
kill_reader_often tight 4 busy-1 until=1600 memory=20000
# And the broker itself, while they run.
end broker KILL
await roomy 'cannot reach kafka'
start_kafka
expect_end 0 steady
expect_end 0 roomy
expect_end 0 tight
expect_used roomy 0 1599
expect_used tight 0 1599
expect_said roomy 1 'cannot reach kafka'
expect_said steady 1 'out of reach'
expect_said steady 1 'there again'

# Ctrl-C leaves everything that was sent with the broker.
publish stopped --topic-prefix slow- --rates 200
within $patience "a topic" "$TRIBUTARY" stream inspect --from "$broker" --topic slow-0 >/dev/null 2>&1
end_of=${process_of[stopped]}
kill -INT "$end_of"
expect_end 0 stopped
says stopped '^interrupted; the broker has everything sent so far' || fail "not said: $(cat stopped.log)"

# Words for what is wrong.
expect_error "there is no topic 'nowhere' at" stream inspect --from "$broker" --topic nowhere
expect_error 'write kafka://HOST:PORT or mqtt://HOST:PORT' stream publish --to "localhost:$port" --rates 5
expect_error "'soon' is not a quantity" stream publish --to "$broker" --rates soon
expect_error "cannot be a topic" stream publish --to "$broker" --rates 5 --topic-prefix 'a b'
expect_error "did you mean 'burst'" stream publish --to "$broker" --rates 5 --programme brust:2:1s:2s
expect_error 'never sends its 9 samples' stream publish --to "$broker" --rates 5 --samples 9 --programme hold:1:1s,stop
expect_error "does not take 'no.such=1'" stream publish --to "$broker" --rates 5 --broker-setting no.such=1
expect_error 'not of the form NAME=VALUE' stream publish --to "$broker" --rates 5 --broker-setting ssl
