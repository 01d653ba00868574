#pragma once

#include "tributary/telemetry/event.h"

namespace tributary::inline dashboard {

// Events of a small run, for tests.

inline Event At(double seconds, decltype(Event::what) what) {
  return {FromSeconds(seconds), std::move(what)};
}

inline Event Started(std::uint64_t devices, std::uint64_t rounds = 10) {
  RunStarted run;
  run.experiment = "test";
  run.method = "federated";
  run.model = "cnn";
  run.data = "glyphs";
  run.devices = devices;
  run.rounds = rounds;
  return At(0, run);
}

inline DeviceFinished Finished(std::uint64_t round, std::uint64_t device) {
  DeviceFinished finished;
  finished.round = RoundId{round};
  finished.device = DeviceId{static_cast<std::uint32_t>(device)};
  finished.samples = 10;
  finished.pull = std::chrono::seconds(1);
  finished.compute = std::chrono::seconds(5);
  finished.push = std::chrono::seconds(2);
  finished.wait = std::chrono::seconds(2);
  finished.down = {100};
  finished.up = {40};
  return finished;
}

// A whole round of `devices`, that ends at `seconds`.
template <typename Sink>
void PlayRound(Sink& sink, std::uint64_t round, std::uint64_t devices, double seconds) {
  sink.Write(At(seconds - 1, RoundStarted{RoundId{round}, devices}));
  for (std::uint64_t i = 0; i < devices; ++i) sink.Write(At(seconds, Finished(round, i)));
  RoundFinished ended;
  ended.round = RoundId{round};
  ended.duration = std::chrono::seconds(10);
  ended.applied = devices;
  ended.train_loss = 1.0 / static_cast<double>(round);
  ended.bytes_down = {100 * static_cast<std::int64_t>(devices)};
  ended.bytes_up = {40 * static_cast<std::int64_t>(devices)};
  sink.Write(At(seconds, ended));
}

}  // namespace tributary::inline dashboard
