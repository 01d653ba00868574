# Four devices that train on four topics of a real MQTT broker, which forgets a sample once it is told that it arrived.
# Whoever is killed, no sample counts twice; what is lost is only what the broker did not keep, and is what is reported.
. "$(dirname "$0")/stream_lib.sh"
. "$(dirname "$0")/stream_fleet_lib.sh"

queued=100000
have_mosquitto fleet_mqtt
patience=150 kills=10
[ "$thorough" -eq 1 ] || kills=4
make_keys "${devices[@]}"
make_data

connected() { for i in 0 1 2 3; do await "pi-$i" 'connected to mqtt'; done; }

# Nothing is lost while the broker keeps what comes for those who are away, and while it is started again.
write_stream_experiment 100 8 'buffer = "persist"'
"$TRIBUTARY" run ./stream.toml --out simulated --quiet >/dev/null
topics=plain/ run=killed
go_on
await_port coordinator
start_stream_devices
connected  # What is published before anybody has ever asked for it is nobody's loss.
publish feed --data ./bars --seed 3 --topic-prefix $topics --rates 40,60,120,240 --samples 800 --first-sequence 0
kill_by_turns $kills 90
[ "$(rounds_in $run)" -lt 95 ] || fail "the run is too short for its kills"
end broker TERM
within $patience "a word about it" says pi-0 'cannot reach mqtt'
start_mosquitto
expect_end 0 feed
expect_end 0 coordinator
for name in "${devices[@]}"; do expect_end 0 "$name"; done
expect_same simulated $run
expect_all_applied $run 100 4
for i in 0 1 2 3; do expect_once $i; done
if grep -q '"missing":[1-9]' $run/events.jsonl; then fail "samples are said to be missing"; fi

# A device that is away while the broker keeps hardly anything.
end broker TERM
queued=20
start_mosquitto
write_stream_experiment 60 8 'buffer = "persist"'
topics=lossy/ run=lossy port=
mv coordinator.log killed.log
rm -f pi-?.log
go_on
await_port coordinator
start_stream_devices
connected
# The run takes 480 samples of each, which come in 12 s: long after the fifth round, on a busy machine too.
publish feed --data ./bars --seed 3 --topic-prefix $topics --rates 40,40,40,40 --samples 1200 --first-sequence 0
within $patience "rounds" has_rounds $run 5
end pi-2 KILL
sleep 3
start_stream_device 2
expect_end 0 coordinator
for name in "${devices[@]}"; do expect_end 0 "$name"; done
end feed KILL
expect_all_applied $run 60 4
for i in 0 1 3; do expect_once $i; done
ranges_of 2 | awk -v last=-1 '$1 <= last || $2 < $1 { exit 1 } { last = $2 }' || fail "used twice: $(ranges_of 2)"
lost=$(($(ranges_of 2 | awk '{ last = $2 } END { print last + 1 }') - 60 * 8))
reported=$(grep '"device":2,' $run/events.jsonl | sed -n 's/.*"missing":\([0-9]*\).*/\1/p' | tail -n 1)
[ "$lost" -gt 20 ] || fail "nothing was lost, so nothing is shown: $lost"
[ "$lost" -eq "$reported" ] || fail "$lost were lost, and $reported reported"
echo "lost $lost, and said so"
