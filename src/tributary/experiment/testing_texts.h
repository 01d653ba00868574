#pragma once

#include <string>
#include <string_view>

namespace tributary::testing {

// The least an experiment must say. Line numbers in tests refer to it.
inline constexpr std::string_view kLeast = R"toml(schema = 1
[experiment]
name = "least"
rounds = 2
[model]
name = "cnn"
[data]
set = "glyphs"
[[fleet.group]]
count = 4
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "federated"
local-steps = 5
)toml";

// Every key there is, none of them at its default, but for what streams have with sync-sgd alone.
inline constexpr std::string_view kEverything = R"toml(schema = 1
[experiment]
name = "everything"
about = "a \"quoted\" word, a back\\slash, α"
seed = 7
rounds = 40
time-budget = "10min"
target-accuracy = 0.75
evaluate-every = 3
[model]
name = "resnet8"
stem = "imagenet"
compute-as = "resnet152"
[data]
set = "cifar10"
split = { kind = "extended-dirichlet", alpha = 0.3, classes-per-device = 4 }
train-limit = 1000
test-limit = 200
hold-out = 0.2
[fleet]
servers = [{ up = "1Gbit/s", down = "2Gbit/s" }, { up = 5e8, down = "3Gbit/s" }]
participation = 0.5
deadline = "1500ms"
quorum = 3
[[fleet.group]]
name = "phones"
count = 10
compute = "normal(2G, 500M)"
memory = "uniform(1GB, 4GB)"
uplink = ["1Mbit/s", "2.5Mbit/s"]
downlink = "80Mbit/s"
round-trip = "uniform(10ms, 0.2s)"
setup = 0.001
stream-rate = "normal(64,24)"
stream-programme = "drift:1:2:1min,burst:5:100ms:1s:20s,stop:4s,repeat"
availability = { kind = "steps", period = "10s", low = 0.2, high = 0.9 }
[[fleet.group]]
name = "watches"
count = 2
compute = 3e7
uplink = "300kbit/s"
availability = { trace = [[0, 1.0], ["90s", 0.25], [100.5, 0]], after = "repeat" }
[[fleet.group]]
name = "boards"
count = 1
compute = "300M"
uplink = "300kbit/s"
availability = 0.5
[[fleet.group]]
name = "loans"
count = 1
compute = "300M"
uplink = "300kbit/s"
availability = { trace = [[0, 1.0], [900, 0.5]] }
[train]
method = "federated"
batch = 16
local-steps = 2
optimiser = "sgd"
momentum = 0.8
nesterov = true
weight-decay = 1e-4
learning-rate = 0.07
schedule = "step"
milestones = [10, 20]
factor = 0.3
warmup = 4
label-smoothing = 0.1
augment = { flip = false, padding = 2 }
prox = 0.01
calibrate = 3
server-optimiser = { kind = "yogi", learning-rate = 0.02, beta1 = 0.8, beta2 = 0.95, tau = 0.01 }
[transfers]
strategy = "optimal"
largest-segment = "8MB"
drift = 0.2
[compression]
kind = "adaptive-top-k"
ratio = 0.05
delta = 0.4
ewma = 0.2
scope = "global"
error-feedback = false
[stream]
recorded-speed = 20
buffer = "truncate"
[trust]
largest-share = 5
clip = 3.5
patience = 2
divergence = 8
[[disturbance]]
kind = "slow"
devices = "group:phones"
share = 0.3
rounds = [2, 5]
factor = 100
[[disturbance]]
kind = "corrupt"
devices = [3, 0]
[[disturbance]]
kind = "crash-in-upload"
devices = "all"
rounds = "all"
[[disturbance]]
kind = "attack"
devices = [1]
attack = "noise"
strength = 3
)toml";

// A network that is cut: every key of [split], and those of [sampling] that go together.
inline constexpr std::string_view kSplitEverything = R"toml(schema = 1
[experiment]
name = "split-everything"
seed = 9
rounds = 30
[model]
name = "resnet8"
[data]
set = "glyphs"
[[fleet.group]]
count = 4
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "split"
batch = 48
[split]
cut = "stem.relu"
tail = "block2.relu"
activations = "fp16"
gradients = "int8"
server-compute = "20G"
variant = "parallel"
[sampling]
method = "lds"
delta = 2.5
concentration = 0.5
draw = "pi"
order = "early"
)toml";

// `text` with its first `from` replaced; empty if there is none, which no reader accepts.
inline std::string Replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const std::size_t at = result.find(from);
  if (at == std::string::npos) return "";
  return result.replace(at, from.size(), to);
}

}  // namespace tributary::testing
