# Connections without a key, many more than the coordinator may have files open: devices that take part go on, and afterwards
# whoever wants to can join. As a benchmark (docs/benchmarks.md) with other numbers, and a limit on how much slower rounds are.
. "$(dirname "$0")/fleet_lib.sh"

devices=${DEVICES:-4} rounds=${ROUNDS:-120} files=${FILES:-300}
raw=${RAW:-900} handshakes=${HANDSHAKES:-200} addresses=${ADDRESSES:-1}

write_experiment federated "$rounds" sequential
sed -i "s/^count = 4/count = $devices/" tiny.toml
names=$(seq -f 'pi-%.0f' "$devices")
make_keys $names
coordinator_in=(bash -c 'ulimit -n "$0" && exec "$@"' "$files")
start_coordinator coordinator ./tiny.toml --out run
await_port coordinator
for name in $names; do start_device "$name" --leave-when-done; done
within "$patience" "the first rounds" has_rounds run $((rounds / 6))

before=$(rounds_in run)
start flood python3 "$(dirname "$0")/hostile_client.py" connections "$port" 120 "$addresses" "$raw" "$handshakes"
await coordinator 'connections were closed at once, the last from 127.0.1.'
flooded() { read -r dialled closed < <(tail -n 2 flood.log | head -n 1) && [ "$dialled" -ge $((raw + handshakes)) ] && [ "$closed" -gt $((raw / 2)) ]; }
within "$patience" "the flood" flooded
within "$patience" "rounds under the flood" has_rounds run $((before + rounds / 3))
open=$(find "/proc/${process_of[coordinator]}/fd" | wc -l)
[ "$open" -le "$files" ] || fail "the coordinator has $open files open"
after=$(rounds_in run)
[ "$after" -lt "$rounds" ] || fail "the run is over before the flood"
end flood TERM

# The listener is as it was: a device that is killed comes back.
end pi-"$devices" KILL
start_device pi-"$devices" --leave-when-done
expect_end 0 coordinator
expect_log run "$rounds"
expect_all_applied run "$rounds" "$devices"
for name in $names; do expect_end 0 "$name"; done

python3 - "$before" "$after" "${MOST_SLOWER:-}" <<'END_OF_PYTHON'
import json, statistics, sys
before, after = int(sys.argv[1]), int(sys.argv[2])
times = {event["round"]: event["time_ns"] / 1e9 for event in map(json.loads, open("run/events.jsonl"))
         if event["type"] == "round-finished"}
def median(first, last):
    return statistics.median(times[n] - times[n - 1] for n in range(first, last + 1))
# Without the first rounds, and without those around the beginning and end of the flood and the killed device.
quiet, flooded, later = median(5, before), median(before + 2, after), median(min(after + 5, max(times)), max(times))
print(f"a round takes {quiet:.3f} s before the flood, {flooded:.3f} s during ({flooded / quiet:.2f} times), "
      f"{later:.3f} s after ({later / quiet:.2f} times); {after - before} rounds during")
if sys.argv[3] and flooded > float(sys.argv[3]) * quiet:
    sys.exit("rounds are slower than allowed")
END_OF_PYTHON
