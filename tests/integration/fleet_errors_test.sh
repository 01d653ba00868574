# What can be wrong with a real fleet, and the words for it; and devices with data of their own.
. "$(dirname "$0")/fleet_lib.sh"

write_experiment federated 3
# Keys.
expect_error "there are no keys in keys or keys/coordinator; make them with 'tributary keys init'" coordinator ./tiny.toml
expect_error 'there are no keys in keys or keys/devices/pi-1' device --join 127.0.0.1:1 --name pi-1
expect_error 'there are no keys in keys or keys/operator' fleet 127.0.0.1:1
[ ! -e runs ] || fail "a coordinator without keys has made a folder"
make_keys pi-1 pi-2
expect_error 'there are no keys in keys or keys/devices/pi-9' device --join 127.0.0.1:1 --keys keys --name pi-9
expect_error "the keys in keys/devices/pi-1 are those of 'pi-1', not of 'pi-2'" device --join 127.0.0.1:1 \
  --keys keys/devices/pi-1 --name pi-2
expect_error "a device cannot be called 'PI'" device --join 127.0.0.1:1 --insecure --name PI
expect_error 'without keys the device needs a unique --name' device --join 127.0.0.1:1 --insecure
expect_error 'there is no revocation list keys/coordinator/revoked.pem' coordinator ./tiny.toml --keys keys/coordinator
mv keys/revoked.pem .
expect_error 'there is no revocation list keys/revoked.pem, so revoked devices cannot be refused' coordinator ./tiny.toml
mv revoked.pem keys
expect_error "unknown thing to allow 'lables'; did you mean 'labels'" device --join 127.0.0.1:1 --allow lables

# In plain text on this machine only.
for where in 0.0.0.0:0 :0 192.168.7.7:0 '[::]:0' example.org:0; do
  expect_error '--insecure would send the model and take updates in plain text' coordinator ./tiny.toml --insecure --listen $where
done
expect_error '--insecure would send' device --join 10.1.2.3 --insecure --name pi-1
expect_error '--insecure would send' fleet 10.1.2.3 --insecure
expect_error '--insecure-anywhere goes with --insecure' coordinator ./tiny.toml --insecure-anywhere

# Experiments and folders.
expect_error 'no experiment given' coordinator --keys keys
expect_error "unknown preset 'smoek'; did you mean 'smoke'\?" coordinator smoek
expect_error '\[model\] compute-as is only valid on simulated devices' coordinator ./tiny.toml --set model.compute-as=resnet18
{ cat tiny.toml; printf '[[disturbance]]\nkind = "vanish"\ndevices = "all"\nshare = 0.5\n'; } >disturbed.toml
expect_error '\[\[disturbance\]\] is only valid on simulated devices' coordinator ./disturbed.toml
expect_error "--stream 'kafka://here': it has no topic; allowed: kafka://HOST" device --join 127.0.0.1 --insecure --name pi-1 --stream kafka://here
expect_error "nothing ever comes at a rate of 0" device --join 127.0.0.1 --insecure --name pi-1 --stream replay:0
expect_error "--buffer-memory: 'much' is not a quantity" device --join 127.0.0.1 --insecure --name pi-1 --buffer-memory much
for where in pi-1 pi-1:x :7071 unix:/tmp/pi-1 http://pi-1:7071 pi-1:70710; do
  expect_error "--advertise: '$where' is no HOST:PORT; allowed: like" device --join 127.0.0.1:1 --name pi-1 --advertise $where
done
expect_error "--listen: 'here' is no HOST:PORT" device --join 127.0.0.1:1 --name pi-1 --advertise pi-1:7071 --listen here
expect_error '--listen is only valid with --advertise' device --join 127.0.0.1:1 --name pi-1 --listen 127.0.0.1:0
expect_error '--advertise names the port where --listen is reached, not 0' device --join 127.0.0.1:1 --name pi-1 \
  --advertise pi-1:0 --listen 127.0.0.1:0
expect_error '--insecure would send .* over pi-1:7071' device --join 127.0.0.1 --insecure --name pi-1 --advertise pi-1:7071
expect_error '--insecure would send .* over 0.0.0.0:0' device --join 127.0.0.1 --insecure --name pi-1 --advertise 127.0.0.1:7071 \
  --listen 0.0.0.0:0
expect_error 'cannot listen for neighbours on 192.0.2.1:0: is the address one of this' device --join 127.0.0.1:1 --name pi-1 \
  --advertise pi-1:7071 --listen 192.0.2.1:0
expect_error "unknown thing to allow 'sample'; did you mean 'samples'" device --join 127.0.0.1 --insecure --name pi-1 --allow sample
expect_error 'none/experiment.toml' coordinator --resume none
expect_error '--resume continues that run.s experiment unchanged' coordinator ./tiny.toml --resume none
mkdir empty
expect_error 'empty/experiment.toml' coordinator --resume empty
expect_error "--checkpoint-every: 'soon' is not a quantity" coordinator ./tiny.toml --checkpoint-every soon
[ ! -e runs ] || fail "a mistake has left a folder: $(ls runs)"

# A simulated run is not a coordinator's to resume, and stays as it is.
"$TRIBUTARY" run smoke --set experiment.rounds=1 --out simulated --quiet >/dev/null
cp simulated/events.jsonl before.jsonl
cp simulated/facts.json before.json
expect_error 'the run in simulated is simulated, and a coordinator cannot resume it' coordinator --resume simulated --keys keys
cmp simulated/events.jsonl before.jsonl && cmp simulated/facts.json before.json || fail "a refused --resume has changed the run"

cp keys/revoked.pem first.pem
"$TRIBUTARY" keys renew-list >/dev/null

# A run of two devices with data of their own, the second of which has to be told.
start_coordinator coordinator ./tiny.toml --out run --wait-for 2
await_port coordinator
expect_error "cannot listen on 127.0.0.1:$port: .* does no other program listen there\?" coordinator ./tiny.toml --keys keys \
  --listen "127.0.0.1:$port" --out other
expect_error 'cannot listen on 192.0.2.1:0' coordinator ./tiny.toml --keys keys --listen 192.0.2.1:0 --out another
for folder in other another; do [ ! -e $folder ] || fail "a coordinator that could not listen has left $folder"; done
code=0
"$TRIBUTARY" fleet "127.0.0.1:$port" --insecure >out.txt 2>err.txt || code=$?
[ "$code" -eq 1 ] || fail "an insecure look at a secure fleet: exit code $code"

mkdir wrong mine yours
{ npy '<f4' '20, 1, 8, 8'; head -c $((20 * 64 * 4)) /dev/zero; } >wrong/X.npy
{ npy '|u1' '20,'; for i in {1..10}; do bytes 00 01; done; } | tee wrong/y.npy mine/y.npy >yours/y.npy
for folder in mine yours; do { npy '|u1' '20, 3, 32, 32'; head -c $((20 * 3072)) /dev/zero | tr '\0' ${folder::1}; } >$folder/X.npy; done
start_device pi-1 --data mine --leave-when-done
start_device pi-2 --data wrong
await pi-2 'the samples in wrong have shape 1x8x8 and 2 classes; the experiment needs 3x32x32 and at most 10'
end pi-2 TERM
start_device pi-2 --data nowhere
await pi-2 'nowhere'
end pi-2 TERM
start_device pi-2 --data yours --leave-when-done
expect_end 0 coordinator
expect_end 0 pi-1
expect_end 0 pi-2
expect_log run 3
expect_all_applied run 3 2

# What only the run's owner may read, whatever the umask; and a revocation list that is older than one accepted before.
[ -z "$(find run -perm /077 ! -name report.html)" ] || fail "others can read $(find run -perm /077 ! -name report.html | head -n 3)"
cp first.pem keys/revoked.pem
expect_error 'keys/revoked.pem is an older revocation list \(number 1\) than the newest one accepted here \(number 2\)' \
  coordinator --resume run --keys keys --listen 127.0.0.1:0
