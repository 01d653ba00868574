# Four devices that train on four topics of a real Kafka broker. Whoever is killed, every sample counts once: the weights
# are those of a simulated run in which nothing ever went wrong.
. "$(dirname "$0")/stream_lib.sh"
. "$(dirname "$0")/stream_fleet_lib.sh"

have_kafka fleet_kafka
patience=150 kills=12
[ "$thorough" -eq 1 ] || kills=5
make_keys "${devices[@]}"
make_data

# With batches of one size it is known which samples belong to which round.
write_stream_experiment 120 8 'buffer = "persist"'
"$TRIBUTARY" run ./stream.toml --out simulated --quiet >/dev/null
topics=plain- run=killed
publish feed --data ./bars --seed 3 --topic-prefix $topics --rates 40,60,120,240 --samples 960
go_on
await_port coordinator
start_stream_devices
kill_by_turns $kills 110
# The broker goes, too, and comes back.
[ "$(rounds_in $run)" -lt 110 ] || fail "the run is too short for its kills"
end broker KILL
within $patience "a word about it" says pi-0 'cannot reach kafka'
start_kafka
expect_end 0 coordinator
for name in "${devices[@]}"; do expect_end 0 "$name"; done
expect_same simulated $run
expect_log $run 120
expect_all_applied $run 120 4
for i in 0 1 2 3; do
  expect_once $i
  [ "$(tail -n 1 ranges.txt)" = "952 959" ] || fail "device $i ended with $(tail -n 1 ranges.txt)"
done
expect_end 0 feed

# Batches that follow the streams, and garbage among the samples. It learns, and again every sample counts once.
write_stream_experiment 40 8 $'batch = "stream-rate"\nwindow = "400ms"\nsmallest-batch = 4\nscaling = "square-root"\nlargest-factor = 2'
topics=quick- run=followed port=
publish feed --data ./bars --seed 3 --topic-prefix $topics --rates 40,80,160,320 --samples 100000
mv coordinator.log killed.log
go_on
await_port coordinator
rm -f pi-?.log
start_stream_devices
within $patience "rounds" has_rounds $run 5
"$STREAM_READER" garbage "$broker" ${topics}3
kill_by_turns $((kills / 3)) 35
expect_end 0 coordinator
for name in "${devices[@]}"; do expect_end 0 "$name"; done
end feed KILL
expect_all_applied $run 40 4
for i in 0 1 2 3; do expect_once $i; done
# The device that has more samples takes more: the last batches are as the streams are.
batch_of() { tail -n 5 <(ranges_of "$1") | awk '{ sum += $2 - $1 + 1 } END { print int(sum / NR) }'; }
[ "$(batch_of 3)" -gt $((2 * $(batch_of 0))) ] || fail "batches are $(batch_of 0) and $(batch_of 3)"
grep -q '"device":3,.*"undecodable":1,' $run/events.jsonl || fail "the garbage was not counted"
accuracy=$(accuracy_of $run)
echo "accuracy $accuracy"
awk -v got="$accuracy" 'BEGIN { exit !(got > 0.9) }' || fail "it has not learnt: $accuracy, losses $(losses_of $run)"

# A stream that stops for a while, and a disk that is full of samples which wait for it: each is told once, the device
# waits and goes on, and nothing is lost. (What compression keeps would not find room on that disk either.)
mkdir disk
mounted=(bash -c 'mount -t tmpfs -o size=512k tmpfs disk && exec "$@"' _)
on_small_disk=(unshare --mount "${mounted[@]}")
"${on_small_disk[@]}" true 2>/dev/null || on_small_disk=(unshare --mount --map-root-user "${mounted[@]}")
"${on_small_disk[@]}" true 2>/dev/null || skip "the full disk in fleet_kafka (a temporary file system cannot be mounted here)"
write_stream_experiment 30 8 'buffer = "persist"'
settings=(--set compression.kind=dense)
"$TRIBUTARY" run ./stream.toml "${settings[@]}" --out calm --quiet >/dev/null
topics=odd- run=odd port=
mv coordinator.log followed.log
rm -f pi-?.log
publish feed --data ./bars --seed 3 --topic-prefix $topics --rates 40,2000,2000,40 --samples 8000 \
  --programme hold:1:2s,stop:8s,repeat
go_on
await_port coordinator
for i in 0 1 2 3; do
  devices_in=() more=()
  if [ $i -eq 1 ]; then devices_in=("${on_small_disk[@]}") more=(--state disk); fi
  start_stream_device $i
  await "pi-$i" "joined as device $i"
done
expect_end 0 coordinator
for name in "${devices[@]}"; do expect_end 0 "$name"; done
end feed KILL
expect_same calm $run
for i in 0 1 2 3; do expect_once $i; done
says pi-0 'waiting for samples: [0-7] of 8 have come' || fail "a standing stream is not told of: $(cat pi-0.log)"
expect_said pi-1 1 'takes no more samples until there is room'
