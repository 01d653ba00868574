# tributary sample: the JSON has the agreed form and its sums are right, for every method; bad input is refused in words.
source "$SOURCE/tests/integration/lib.sh"

echo '[[60, 60, 0], [0, 0, 80], [0, 0, 0], [10, 20, 70]]' >counts.json
sizes=120,80,0,100
# check JSON-FILE EPOCHS NEAR: every sample once an epoch; with NEAR, in ⌈300/32⌉ = 10 steps of 30.
check() {
  tr -d ' \n' <"$1" >flat.json
  grep -qE '^\{"steps":\[\[[0-9,]+\](,\[[0-9,]+\])*\],"deviation":\{"mean":[0-9.e-]+,"max":[0-9.e-]+\},"time":\{"total":[0-9.]+,"per_step":\[[0-9.,]+\]\}\}$' flat.json ||
    fail "not the agreed form: $(cat "$1")"
  sed -E 's/^\{"steps":\[\[//; s/\]\],"deviation".*//; s/\],\[/\n/g' flat.json >rows.txt
  echo >>rows.txt
  awk -F, -v epochs="$2" -v near="$3" '
    NF { if (NF != 4) bad = "columns"; size = 0; for (i = 1; i <= 4; ++i) { sum[i] += $i; size += $i }; ++steps
         if (near && size != 30) bad = "a step of " size }
    END { if (sum[1] != 120 * epochs || sum[2] != 80 * epochs || sum[3] != 0 || sum[4] != 100 * epochs) bad = "sums";
          if (near && steps != 10 * epochs) bad = steps " steps"; if (bad) { print bad; exit 1 } }' rows.txt ||
    fail "$1: $(cat rows.txt)"
}
for method in fls fpls ugs lds deadline; do
  near=1
  case $method in f*) near=0 ;; esac
  "$TRIBUTARY" sample --sizes $sizes --batch 32 --method $method --label-counts counts.json --delays 1,1,9,5 \
    --epochs 2 --json >out.json
  check out.json 2 $near
  "$TRIBUTARY" sample --sizes $sizes --batch 32 --method $method --label-counts counts.json --delays 1,1,9,5 \
    --epochs 2 --json | cmp -s out.json || fail "$method: a second run differs"
  expect_output "^$method " sample --sizes $sizes --batch 32 --method $method --delays 1,1,9,5
done
"$TRIBUTARY" sample --sizes $sizes --batch 32 --method lds --draw pi --order early --delta 2 --concentration 0.5 \
  --label-counts counts.json --delays 1,1,9,5 --seed 3 --json >out.json
check out.json 1 1

# By hand: one client of two classes; steps of 4, 3 and 3 take 2 each.
echo '[[5, 5]]' >one.json
[ "$("$TRIBUTARY" sample --sizes 10 --batch 4 --delays 2 --label-counts one.json --json | tr -d ' \n')" = \
  '{"steps":[[4],[3],[3]],"deviation":{"mean":0.0,"max":0.0},"time":{"total":6.0,"per_step":[2.0,2.0,2.0]}}' ] ||
  fail "by hand: $("$TRIBUTARY" sample --sizes 10 --batch 4 --delays 2 --label-counts one.json --json)"
# Without labels nothing is known of deviation; without delays every step takes 1.
"$TRIBUTARY" sample --sizes 3,4 --batch 100 --json | tr -d ' \n' >out.json
[ "$(cat out.json)" = '{"steps":[[3,4]],"deviation":null,"time":{"total":1.0,"per_step":[1.0]}}' ] || fail "$(cat out.json)"
expect_output 'found no plan' sample --sizes $sizes --batch 7 --method deadline --label-counts counts.json --max-deviation 0
expect_output 'Examples' sample --help

good="sample --sizes $sizes --batch 32"
expect_error "size of client 2 is -80" sample --sizes 120,-80 --batch 32
expect_error "size of client 1 is -5" sample --sizes=-5,3 --batch 32
expect_error "'12x', number 2" sample --sizes 120,12x --batch 32
expect_error "'', number 2" sample --sizes 120, --batch 32
expect_error "no client has a sample" sample --sizes 0,0 --batch 32
expect_error "more than 100000000" sample --sizes 9000000000000000000,9000000000000000000 --batch 32
expect_error "is not a valid whole number" sample --sizes 99999999999999999999 --batch 32
expect_error "--batch is 0" sample --sizes 1,2 --batch 0
expect_error "--batch is -3" sample --sizes 1,2 --batch=-3
expect_error "1.5" sample --sizes 1,2 --batch 1.5
expect_error "--epochs is 0" $good --epochs 0
expect_error "exceed the limit of .* steps; use a larger" sample --sizes 50000000 --batch 1
expect_error "delay of client 2 is nan" $good --delays 1,nan,1,1
expect_error "delay of client 4 is -1" $good --delays 1,1,1,-1
expect_error "delay of client 1 is inf" $good --delays inf,1,1,1
expect_error "3 delays and 4 sizes" $good --delays 1,1,1
expect_error "did you mean 'ugs'" $good --method usg
expect_error "did you mean 'weighted'" $good --draw weigthed
expect_error "did you mean 'shuffled'" $good --order shufled
expect_error "delta is nan" $good --delta nan
expect_error "concentration is 0" $good --concentration 0
expect_error "deviations lie between" $good --method deadline --label-counts counts.json --max-deviation 3
expect_error "is only valid with --label-counts" $good --method deadline --max-deviation 0.1
expect_error "is only valid with --method deadline" $good --label-counts counts.json --max-deviation 0.1
expect_error "absent.json" $good --label-counts absent.json
counts() { echo "$2" >bad.json; expect_error "$1" $good --label-counts bad.json; }
counts "not JSON" '[[1,'
counts "not a list of clients" '{"a": 1}'
counts "client 2 is not a list" '[[120], 80]'
counts "client 1 has 1.5 as count of class 0" '[[1.5]]'
counts "client 1 has \"a\"" '[["a"]]'
counts "label counts of 1 clients and sizes of 4" '[[120]]'
counts "client 2 has label counts of 1 classes" '[[120, 0], [80], [0, 0], [100, 0]]'
counts "sum to 119, not its size 120" '[[60, 59], [80, 0], [0, 0], [100, 0]]'
counts "-1 samples of class 1" '[[120, -1], [80, 0], [0, 0], [100, 0]]'
