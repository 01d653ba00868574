# Connections without a key, many more than the coordinator may have files open: whoever takes part goes on, and when it
# is over, whoever wants to can join.
. "$(dirname "$0")/fleet_lib.sh"

cat >flood.py <<'END'
"""flood.py PORT CONNECTIONS SECONDS: holds that many connections open, and dials again for those that are closed."""
import select, socket, sys, time

port, wanted, seconds = (int(argument) for argument in sys.argv[1:])
held, dialled, closed = [], 0, 0
end = time.monotonic() + seconds
while time.monotonic() < end and dialled < 10 * wanted:
    while len(held) < wanted and dialled < 10 * wanted:
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(("127.0.0.1", port))
        held.append(one)
        dialled += 1
        if dialled % 50 == 0:
            break
    poll = select.poll()
    for one in held:
        poll.register(one, select.POLLIN | select.POLLHUP | select.POLLERR)
    over = {descriptor for descriptor, _ in poll.poll(20)}
    for one in [one for one in held if one.fileno() in over]:
        held.remove(one)
        one.close()
        closed += 1
    print(dialled, closed, flush=True)
END

write_experiment federated 60 sequential
make_keys pi-1 pi-2 pi-3 pi-4
ulimit -n 4096
coordinator_in=(bash -c 'ulimit -n 300 && exec "$@"' coordinator)
start_coordinator coordinator ./tiny.toml --out run
await_port coordinator
for name in pi-1 pi-2 pi-3 pi-4; do start_device "$name" --leave-when-done; done
within "$patience" "the first rounds" has_rounds run 2

start flood python3 flood.py "$port" 1100 12
before=$(rounds_in run)
within "$patience" "rounds under the flood" has_rounds run $((before + 5))
await coordinator 'connections were closed at once, the last from 127.0.0.1'
files=$(find "/proc/${process_of[coordinator]}/fd" | wc -l)
[ "$files" -le 300 ] || fail "the coordinator has $files files open"
expect_end 0 flood
read -r dialled closed < <(tail -n 1 flood.log)
[ "$dialled" -ge 1100 ] && [ "$closed" -gt 500 ] || fail "that was no flood: $dialled dialled, $closed closed"

# The listener is as it was: a device that is killed comes back.
end pi-4 KILL
start_device pi-4 --leave-when-done
expect_end 0 coordinator
expect_log run 60
expect_all_applied run 60 4
for name in pi-1 pi-2 pi-3 pi-4; do expect_end 0 "$name"; done
