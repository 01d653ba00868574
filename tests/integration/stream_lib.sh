# Shared by the tests of streams: real brokers on this machine, and readers that can be killed (stream_reader.cc).
. "$(dirname "$0")/fleet_lib.sh"

RANDOM=20221217
patience=60

listens() { (: >"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

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
