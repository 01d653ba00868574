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

// A series of any length in bounded memory: every 2^k-th point, from the first on, and the newest. Points are kept whole, not
// averaged, so that what is shown did happen.
template <typename Point>
class Downsampled {
 public:
  // At most `most` points are kept; 2 at least.
  explicit Downsampled(std::size_t most) : most_(most) {}

  void Add(Point point) {
    if (!points_.empty() && (seen_ - 1) % stride_ != 0)
      points_.pop_back();  // The newest of before was no 2^k-th.
    if (points_.size() == most_) {
      for (std::size_t i = 1; 2 * i < points_.size(); ++i) points_[i] = std::move(points_[2 * i]);
      points_.resize((points_.size() + 1) / 2);
      stride_ *= 2;
      ++downsamplings_;
    }
    points_.push_back(std::move(point));
    ++seen_;
  }

  // In the order of Add. The last is the newest.
  const std::vector<Point>& points() const { return points_; }
  // How many of points() whoever had the first `known` of all has as well and keeps: all but what is newer, and but what was
  // the newest then and is no 2^k-th. As long as there was no thinning since.
  std::size_t Settled(std::uint64_t known) const {
    if (known == 0) return 0;
    return static_cast<std::size_t>(std::min<std::uint64_t>(points_.size(), (known - 1) / stride_ + 1));
  }
  // How many there have been.
  std::uint64_t seen() const { return seen_; }
  // Changes whenever points other than the newest were dropped.
  std::uint64_t downsamplings() const { return downsamplings_; }

 private:
  std::size_t most_;
  std::uint64_t stride_ = 1;
  std::uint64_t seen_ = 0;
  std::uint64_t downsamplings_ = 0;
  std::vector<Point> points_;
};

// What a page shows of a run, added up from its facts and events in memory that does not grow with its length: at most
// kMostPoints rounds and evaluations and kMostShown devices. A plain value without locks; the same for a live run and for
// one that is read from its folder.
struct Board : EventSink {
  static constexpr std::size_t kMostPoints = 1'000, kMostShown = 1'000, kMostNotes = 50;

  struct Round {
    RoundFinished finished;
    RoundShares shares;
    TimePoint time{0};
    Bytes bytes;         // down and up since the run began
    Bytes up, dense_up;  // of this round
    // Half the sum of differences between the shares of classes in the round's samples, as the devices' shards let expect
    // them, and in all data: 0 for the same, 1 for no class in common.
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
    std::optional<DeviceFinished> last;  // its last round
  };
  struct Said {
    TimePoint time{0};
    std::string text;
  };

  void Describe(const RunMetadata& described) override;
  void Write(const Event& event) override;
  // Of a real fleet, what a device does now: waiting, pulling, computing, pushing, preparing, gone.
  void SetState(std::size_t device, std::string_view state);

  RunMetadata metadata;
  RunTotals totals{kMostShown};
  std::uint64_t round = 0, participants = 0, back = 0;
  Bytes dense_up;
  Downsampled<Round> rounds{kMostPoints};
  Downsampled<Evaluation> evaluations{kMostPoints};
  std::vector<Device> devices;  // the first ones; at least those of `totals`
  std::deque<Said> notes;
  bool states_are_told = false;  // by SetState
  // How often points that had been shown were taken back, beside thinning.
  std::uint64_t replaced = 0;

 private:
  // Of the round that is running.
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

  void AddClasses(const DeviceFinished& device);
  std::optional<double> Deviation() const;
  void SetAll(std::string_view state);

  Running running_;
  bool has_test_set_ = false;   // Before the event that is being written.
  std::vector<double> shares_;  // of the classes in all data
};

// The board as JSON (docs/watching.md has its keys), whole or in the parts that change at different pace.
std::string BoardJson(const Board& board);
std::string NowJson(const Board& board);
std::string DevicesJson(const Board& board);
std::string NotesJson(const Board& board);
// What is new for one who has the first `rounds` and `evaluations` of all points there have been, if none were thinned out
// since: with each series, how many of the points there that one keeps ("keep"), and what follows them.
std::string PointsJson(const Board& board, std::uint64_t rounds, std::uint64_t evaluations);

// The keys of that JSON and what the page reads them as, in TypeScript: web/src/figures.ts.
std::string BoardTypes();

}  // namespace tributary::inline dashboard
