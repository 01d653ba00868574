#pragma once

#include <span>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/model/model.h"

namespace tributary::inline policy {

// Where to cut a network whose front trains on the devices and whose rest on a server.

// What a cut comes to.
struct SplitPointOption {
  NodeIndex node = 0;     // the front is nodes 1 … node
  double front_macs = 0;  // forward, for one sample
  double rest_macs = 0;
  double split_bytes = 0;     // of the cut's output for one sample, as it travels up
  double gradient_bytes = 0;  // and its gradient, as it travels down
  double front_bytes = 0;     // of the weights that devices hold, as they lie in memory
  double weight_memory = 0;   // what training the front holds whatever the batch,
  double sample_memory = 0;   // and for each sample of it (TrainingMemory)
  std::string layer;          // the node's name
};

// One for each cut of the network, in order, with how many bytes a value takes going up and coming down (4, 2 or 1).
std::vector<SplitPointOption> SplitPointOptionsOf(const Model& model, double up_bytes_per_value,
                                                  double down_bytes_per_value);

// A device as the choice sees it. Rates are above 0, and may be infinite.
struct SplitClient {
  double macs_per_second = 0;
  double up_bits = 0;  // per second
  double down_bits = 0;
  double setup_seconds = 0;  // of each message
  double round_trip_seconds = 0;
  double memory_bytes = 0;  // 0: unlimited
  double batch = 0;         // samples it gives to an average step
};

struct SplitPointChoice {
  NodeIndex node = 0;
  double step_seconds = 0;
};

// How long a client is busy in a step with this cut: it pulls the front, goes forward, sends activations, gets their
// gradients, goes backward (twice the forward pass) and sends the front's gradient, one after the other. Each of the four
// messages pays set-up and half a round trip.
double ClientSeconds(const SplitPointOption& option, const SplitClient& client);

// The cut with the shortest step: the slowest client's time and the server's work on the whole batch (three forward
// passes of the rest). Only cuts whose front every client has the memory to train; the earlier of cuts with equal times.
// An error in words if no cut fits in memory, or if there is none.
StatusOr<SplitPointChoice> ChooseSplitPoint(std::span<const SplitPointOption> options,
                                            std::span<const SplitClient> clients,
                                            double server_macs_per_second);

}  // namespace tributary::inline policy
