#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/telemetry/event.h"
#include "tributary/telemetry/run_metadata.h"
#include "tributary/telemetry/run_totals.h"

namespace tributary::inline dashboard {

// A series of any length in bounded memory: every 2^k-th point and the newest. Points are not averaged.
template <typename Point>
class Downsampled {
 public:
  // Keeps at most `most` points; at least 2.
  explicit Downsampled(std::size_t most) : most_(most) {}

  void Add(Point point) {
    if (!points_.empty() && (seen_ - 1) % stride_ != 0) points_.pop_back();  // was only the newest
    if (points_.size() == most_) {
      for (std::size_t i = 1; 2 * i < points_.size(); ++i) points_[i] = std::move(points_[2 * i]);
      points_.resize((points_.size() + 1) / 2);
      stride_ *= 2;
      ++downsamplings_;
    }
    points_.push_back(std::move(point));
    ++seen_;
  }

  // In the order of Add; the last is the newest.
  const std::vector<Point>& points() const { return points_; }
  // How many of points() a client that knows the first `known` points already has and may keep, if there was
  // no thinning since: all but newer ones, and but a then newest point that is not a 2^k-th.
  std::size_t Settled(std::uint64_t known) const {
    if (known == 0) return 0;
    return static_cast<std::size_t>(std::min<std::uint64_t>(points_.size(), (known - 1) / stride_ + 1));
  }
  // The number of points added.
  std::uint64_t seen() const { return seen_; }
  // Changes whenever points other than the newest are dropped.
  std::uint64_t downsamplings() const { return downsamplings_; }

 private:
  std::size_t most_;
  std::uint64_t stride_ = 1;
  std::uint64_t seen_ = 0;
  std::uint64_t downsamplings_ = 0;
  std::vector<Point> points_;
};

// What the page shows of a run, accumulated in bounded memory: at most kMostPoints rounds and evaluations and
// kMostShown devices. A plain value without locks, for live runs and for runs read from their folder.
struct Board : EventSink {
  static constexpr std::size_t kMostPoints = 1'000, kMostShown = 1'000, kMostNotes = 50;

  struct Round {
    RoundFinished finished;
    RoundShares shares;
    TimePoint time{0};
    Bytes bytes;         // down and up since the start of the run
    Bytes up, dense_up;  // of this round
    // Label deviation of the round's samples, as expected from the devices' shards: half the L1 distance of
    // their class shares from those of all data. 0: equal, 1: no common class.
    std::optional<double> deviation;
  };
  struct Evaluation {
    std::uint64_t round = 0;
    TimePoint time{0};
    Bytes bytes;
    double accuracy = 0, loss = 0;
  };
  struct Device {
    std::string state = "waiting";
    std::optional<DeviceFinished> last;  // last round
  };
  struct Said {
    TimePoint time{0};
    std::string text;
  };

  void Describe(const RunMetadata& described) override;
  void Write(const Event& event) override;
  // What a real device does now: waiting, pulling, computing, pushing, preparing, gone.
  void SetState(std::size_t device, std::string_view state);

  RunMetadata metadata;
  RunTotals totals{kMostShown};
  std::uint64_t round = 0, participants = 0, back = 0;
  Bytes dense_up;
  Downsampled<Round> rounds{kMostPoints};
  Downsampled<Evaluation> evaluations{kMostPoints};
  std::vector<Device> devices;  // the first devices; at least those of `totals`
  std::deque<Said> notes;
  bool states_are_told = false;  // by SetState
  // How often shown points were replaced, besides thinning.
  std::uint64_t replaced = 0;

 private:
  // The running round.
  struct Running {
    std::uint64_t applied = 0;
    Bytes up;
    std::vector<double> classes;
    double samples = 0;
  };

  void On(const RunStarted& started);
  void On(const RoundStarted& started);
  void On(const DeviceFinished& device);
  void On(const RoundFinished& ended);
  void On(const Evaluated& evaluated);
  void On(const RunFinished& ended);
  void On(const Note& note);
  void On(const RolledBack& back) { On(Note{back.reason}); }
  void On(const Quarantined& device) { On(Note{device.reason}); }
  void AddClasses(const DeviceFinished& device);
  std::optional<double> Deviation() const;
  void SetAll(std::string_view state);

  Running running_;
  bool has_test_set_ = false;   // before the event being written
  std::vector<double> shares_;  // of the classes in all data
};

// The board as JSON (docs/watching.md lists the keys), whole or in parts that change at different rates.
std::string BoardJson(const Board& board);
std::string NowJson(const Board& board);
std::string DevicesJson(const Board& board);
std::string NotesJson(const Board& board);
// The points that are new for a client that has the first `rounds` and `evaluations` points, if there was no
// thinning since. Each series starts with the number of points that the client keeps ("keep").
std::string PointsJson(const Board& board, std::uint64_t rounds, std::uint64_t evaluations);

// The keys of that JSON and their types in TypeScript: web/src/figures.ts.
std::string BoardTypes();

}  // namespace tributary::inline dashboard
