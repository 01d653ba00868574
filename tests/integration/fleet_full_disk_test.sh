# A disk that has no room left for the updates of a round: the run ends with an error that names the folder and the free
# space. No honest update is refused, no device is told the coordinator's paths, and the last checkpoint can be resumed.
. "$(dirname "$0")/fleet_lib.sh"

if [ -z "${INSIDE:-}" ]; then
  code=0
  for enter in 'unshare --mount --map-root-user' 'unshare --mount'; do
    $enter bash -c 'mkdir there && mount -t tmpfs tmpfs there' 2>/dev/null || { rm -rf there; continue; }
    INSIDE=1 $enter bash "$0" || code=$?
    exit "$code"
  done
  skip "fleet_full_disk (a temporary file system cannot be mounted here)"
fi

mkdir disk
mount -t tmpfs -o size=16m tmpfs disk
# An update has 1.6 MB, and a median needs those of all four devices at once. A checkpoint has as much, without earlier weights.
cat >full.toml <<END
schema = 1
[experiment]
name = "full"
rounds = 100000
[model]
name = "mlp"
[data]
set = "glyphs"
train-limit = 80
test-limit = 10
[fleet]
quorum = 1.0
[[fleet.group]]
name = "all"
count = 4
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "sync-sgd"
batch = 4
learning-rate = 0.01
[aggregation]
rule = "median"
[trust]
divergence = 0
END
devices="pi-1 pi-2 pi-3 pi-4"
begin() { start coordinator "$TRIBUTARY" coordinator --insecure --listen "$host:${port:-0}" --checkpoint-every 0s "$@"; }
begin ./full.toml --out disk/run
await_port coordinator
for name in $devices; do
  start "$name" "$TRIBUTARY" device --insecure --name "$name" --join "$host:$port" --threads 1 --longest-wait 300ms
done
within "$patience" "the first rounds" has_rounds disk/run 3
room_taken() { fallocate -l 9M disk/filler 2>/dev/null; }
within "$patience" "a moment without updates" room_taken
expect_end 1 coordinator
says coordinator 'cannot write to the temporary file in disk/run that holds updates .*No space left on device; .* are free there' ||
  fail "$(tail -n 3 coordinator.log)"
if grep -q '"outcome":"refused"' disk/run/events.jsonl; then fail "honest updates were refused"; fi
for name in $devices; do
  if says "$name" 'disk/run|temporary file'; then fail "$name knows the coordinator's path: $(tail -n 3 "$name.log")"; fi
done

rm disk/filler
before=$(rounds_in disk/run)
begin --resume disk/run
within "$patience" "rounds after the disk has room" has_rounds disk/run $((before + 3))
end coordinator TERM
for name in $devices; do end "$name" TERM; done
umount -l disk
