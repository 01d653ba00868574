#pragma once

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "tributary/telemetry/event.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline store {

// A folder that goes with the test.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "store_test.XXXXXX").string();
    path_ = std::filesystem::canonical(::mkdtemp(name.data()));
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// The events of a run whose numbers can be worked out by hand: round r takes 10 s, device d waits d seconds and moves 100 B
// down and 10 B up, the loss is 1/r and the accuracy r/100.
inline std::vector<Event> TestRun(std::uint64_t rounds, std::uint64_t devices, bool finished = true) {
  using namespace std::chrono_literals;
  std::vector<Event> events = {{0s, RunStarted{.experiment = "test",
                                               .seed = 7,
                                               .method = "federated",
                                               .model = "cnn",
                                               .data = "glyphs",
                                               .devices = devices,
                                               .parameters = 1000,
                                               .rounds = rounds}}};
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const TimePoint end = Duration(10s) * static_cast<std::int64_t>(round);
    events.push_back({end - 10s, RoundStarted{{round}, devices}});
    for (std::uint64_t device = 0; device < devices; ++device) {
      events.push_back({end, DeviceFinished{.round = {round},
                                            .device = {device},
                                            .outcome = device == 1 ? Outcome::kLate : Outcome::kApplied,
                                            .reason = device == 1 ? "slow" : "",
                                            .samples = 3,
                                            .pull = 1s,
                                            .compute = 2s,
                                            .push = 1s,
                                            .wait = Duration(1s) * static_cast<std::int64_t>(device),
                                            .down = {100},
                                            .up = {10}}});
    }
    const auto count = static_cast<std::int64_t>(devices);
    events.push_back({end, RoundFinished{.round = {round},
                                         .duration = 10s,
                                         .applied = devices,
                                         .late = 0,
                                         .train_loss = 1.0 / static_cast<double>(round),
                                         .bytes_down = {100 * count},
                                         .bytes_up = {10 * count}}});
    events.push_back(
        {end,
         Evaluated{
             .round = {round}, .accuracy = static_cast<double>(round) / 100, .loss = 0.5, .samples = 9}});
  }
  if (finished)
    events.push_back({Duration(10s) * static_cast<std::int64_t>(rounds),
                      RunFinished{rounds, RunEnd::kRounds, static_cast<double>(rounds) / 100}});
  return events;
}

inline void WriteAll(EventSink& sink, const std::vector<Event>& events) {
  for (const Event& event : events) sink.Write(event);
}

}  // namespace tributary::inline store
