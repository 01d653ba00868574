# Shared by the tests of streams: real brokers on this machine, and readers that can be killed (stream_reader.cc).
. "$(dirname "$0")/fleet_lib.sh"

RANDOM=20221217
patience=60

listens() { (: >"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# have_kafka: a broker of our own, at $broker; `end broker KILL` and start_kafka are what a crash of it is.
have_kafka() {
  command -v java >/dev/null || skip "$1 (there is no Java; scripts/setup brokers)"
  "$SOURCE/scripts/kafka" fetch || skip "$1 (no broker; see above)"
  start_kafka
  within $patience "the broker's port" test -s kafka/port
  within $patience "the broker" listens "$(cat kafka/port)"
  broker=kafka://127.0.0.1:$(cat kafka/port)
}
start_kafka() { start broker "$SOURCE/scripts/kafka" run kafka; }

# have_mosquitto TEST: likewise; it keeps $queued messages for a reader that is away.
queued=300
have_mosquitto() {
  PATH=$PATH:/usr/sbin
  command -v mosquitto >/dev/null || skip "$1 (there is no mosquitto; scripts/setup brokers)"
  mqtt_port=$((30000 + RANDOM % 2000 + $$ % 500))
  while listens $mqtt_port; do mqtt_port=$((mqtt_port + 1)); done
  broker=mqtt://127.0.0.1:$mqtt_port
  start_mosquitto
}
start_mosquitto() {
  cat >mosquitto.conf <<END
listener $mqtt_port 127.0.0.1
allow_anonymous true
persistence true
persistence_location $PWD/
max_queued_messages $queued
user root
END
  start broker mosquitto -c mosquitto.conf
  within $patience "the broker" listens $mqtt_port
}

# publish NAME ARGUMENT…: in the background, to $broker.
publish() {
  local name=$1
  shift
  start "$name" "$TRIBUTARY" stream publish --to "$broker" --quiet "$@"
}

# start_reader NAME TOPIC ARGUMENT…: of glyphs. What it has used is in NAME/used.
start_reader() {
  local name=$1 topic=$2
  shift 2
  start "$name" "$STREAM_READER" "$broker" "$topic" 3x32x32 10 "$name" "$@"
}

used() { if [ -e "$1/used" ]; then wc -l <"$1/used"; else echo 0; fi; }
has_used() { [ "$(used "$1")" -ge "$2" ]; }

# kill_reader_often NAME TIMES TOPIC ARGUMENT…: after it has used something new, at a moment of its own.
kill_reader_often() {
  local name=$1 times=$2 topic=$3 before i
  shift 3
  for ((i = 0; i < times; ++i)); do
    before=$(used "$name")
    within $patience "more from $name" has_used "$name" $((before + 1))
    sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
    end "$name" KILL
    start_reader "$name" "$topic" "$@"
  done
}

# expect_used NAME FIRST LAST: every position exactly once and in order.
expect_used() {
  cut -d' ' -f1 "$1/used" | cmp -s - <(seq "$2" "$3") ||
    fail "$1 has not used $2 to $3 once each: $(cut -d' ' -f1 "$1/used" | diff - <(seq "$2" "$3") | head -n 3)"
}

# expect_said NAME COUNT PATTERN: so many lines of its log.
expect_said() {
  local count
  count=$(grep -cE -- "$3" "$1.log" || true)
  [ "$count" -eq "$2" ] || fail "$1 said '$3' $count times, not $2: $(cat "$1.log")"
}
