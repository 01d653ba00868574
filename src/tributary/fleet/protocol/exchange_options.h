#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tributary/base/clock.h"
#include "tributary/data/record.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/fleet/step_plan.h"
#include "tributary/model/model.h"
#include "tributary/policy/compression/codecs.h"

namespace tributary::inline protocol {

struct ExchangeOptions {
  std::shared_ptr<const Model> model;
  // How weights and updates are cut on their way.
  TransferOptions transfers;
  CompressionKind codec;  // of updates that may come as encoded blocks; null where none may
  // From how many parts of the network a device chooses what it trains; 0 where it has no choice.
  std::size_t menu = 0;
  std::optional<SampleFormat> shared;  // of samples that travel; none where none may
  // What goes over the cut of a network that has one; `model` is what devices have.
  std::optional<SplitWire> cut;
  // What every device is told on joining, but for its number. `layout` and `piece_floats` are what both sides go by.
  Welcome welcome;
  // How long a device that has gone is still waited for, where the round could end without it. Longer forgives longer
  // breaks of the network; shorter ends rounds sooner.
  Duration grace = std::chrono::seconds(10);
  // A connection that has not greeted by then is closed.
  Duration greeting_time = std::chrono::seconds(10);
  // A connection whose peer has taken nothing for so long of what waits to be sent is closed. Longer bears slower links.
  Duration stall_time = std::chrono::minutes(2);
  std::size_t most_sessions = 10'000;
  // A device may not count for more, whatever it says it has.
  std::int64_t most_samples = 100'000'000;
  // Random for each process of a coordinator: makes the names of gossip rounds unique across restarts.
  std::uint64_t incarnation = 0;
};

}  // namespace tributary::inline protocol
