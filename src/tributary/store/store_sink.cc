#include "tributary/store/store_sink.h"

#include <atomic>
#include <optional>
#include <thread>

#include "tributary/base/clock.h"
#include "tributary/base/mutex.h"
#include "tributary/store/run_writer.h"

namespace tributary::inline store {
namespace {

using namespace std::chrono_literals;

constexpr auto kBatch = 250ms;           // between transactions
constexpr Duration kDevices = 1s;        // between writes of device totals
constexpr Duration kHeartbeat = 5s;      // between heartbeats without events
constexpr auto kPatience = 100ms;        // with other writers, during the run
constexpr auto kLastPatience = 5'000ms;  // and at its end

class SqliteStoreSink : public StoreSink {
 public:
  SqliteStoreSink(StoreSinkOptions options, std::unique_ptr<RunWriter> writer)
      : options_(std::move(options)),
        writer_(std::move(writer)),
        follower_(options_.groups),
        clock_(MakeRealClock()) {
    thread_ = std::thread([this] { Work(); });
  }

  ~SqliteStoreSink() override { (void)Close(); }

  void Write(const Event& event) override {
    if (quiet_.load(std::memory_order_relaxed)) return;
    const bool of_device = std::holds_alternative<DeviceFinished>(event.what);
    const MutexLock lock(mutex_);
    if (waiting_.size() >= (of_device ? kMostWaiting : 2 * kMostWaiting)) {
      ++missed_;
      return;
    }
    waiting_.push_back(event);
    // Half full: wake the thread early.
    if (waiting_.size() == kMostWaiting / 2) wake_.NotifyOne();
  }

  void NameGroups(std::vector<std::string> groups) override {
    const MutexLock lock(mutex_);
    groups_ = std::move(groups);
  }

  std::int64_t run() const override { return run_.load(); }

  Status Close() override {
    if (thread_.joinable()) {
      {
        const MutexLock lock(mutex_);
        stop_ = true;
        wake_.NotifyOne();
      }
      thread_.join();
    }
    return status_;
  }

 private:
  void Work() {
    std::vector<Event> taken;
    bool last = false;
    while (!last) {
      std::uint64_t missed = 0;
      {
        MutexLock lock(mutex_);
        const WaitDeadline deadline = DeadlineIn(kBatch);
        while (!stop_ && waiting_.size() < kMostWaiting / 2 && wake_.WaitUntil(lock, deadline)) {
        }
        last = stop_;
        std::swap(taken, waiting_);
        missed = std::exchange(missed_, 0);
        if (groups_) follower_.set_groups(*std::exchange(groups_, std::nullopt));
      }
      if (!status_.ok()) {
        taken.clear();
        continue;
      }
      for (const Event& event : taken) follower_.Write(event);
      changed_ = changed_ || !taken.empty();
      follower_.run().missed_events += missed;
      taken.clear();
      if (last || clock_->Now() - written_ >= kBatch) Flush(last);
    }
  }

  void Flush(bool last) {
    const TimePoint now = clock_->Now();
    if (last) {
      if (follower_.run().state == RunState::kRunning) follower_.run().state = RunState::kFailed;
      writer_->set_patience(kLastPatience);
      changed_ = true;
    }
    Status status;
    const bool devices =
        last || follower_.run().state != RunState::kRunning || now - devices_written_ >= kDevices;
    if (changed_) {
      status = writer_->Write(follower_, options_.wall_clock(), devices);
    } else if (writer_->run() != 0 && now - beat_ >= kHeartbeat) {
      status = writer_->Beat(options_.wall_clock());
    } else {
      return;
    }
    written_ = now;
    if (status.ok()) {
      changed_ = !devices && !follower_.changes().devices.empty();
      beat_ = now;
      if (devices) devices_written_ = now;
      run_.store(writer_->run());
    } else if (last || status.code() != StatusCode::kUnavailable) {
      status_ = std::move(status);
      quiet_.store(true);
    }
  }

  const StoreSinkOptions options_;
  // Used by the thread, and after it has ended by Close.
  const std::unique_ptr<RunWriter> writer_;
  RunFollower follower_;
  const std::unique_ptr<Clock> clock_;
  TimePoint written_{0}, devices_written_{0}, beat_{0};
  bool changed_ = false;
  Status status_;

  std::atomic<bool> quiet_ = false;
  std::atomic<std::int64_t> run_ = 0;
  Mutex mutex_;
  Condition wake_;
  std::vector<Event> waiting_ TRIBUTARY_GUARDED_BY(mutex_);
  std::uint64_t missed_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  std::optional<std::vector<std::string>> groups_ TRIBUTARY_GUARDED_BY(mutex_);
  bool stop_ TRIBUTARY_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace

bool StoreSink::Available() { return true; }

StatusOr<std::unique_ptr<StoreSink>> StoreSink::Create(StoreSinkOptions options) {
  std::error_code error;
  if (!options.folder.empty()) {
    options.folder =
        std::filesystem::weakly_canonical(std::filesystem::absolute(options.folder, error), error);
  }
  RunWriter::Origin origin{.name = options.name,
                           .folder = options.folder.string(),
                           .toml = options.experiment,
                           .process = ThisProcess(),
                           .simulated = options.simulated,
                           .resumed = options.resumed};
  TRIBUTARY_ASSIGN_OR_RETURN(auto writer, RunWriter::Open(options.store, std::move(origin), kPatience));
  return std::unique_ptr<StoreSink>(new SqliteStoreSink(std::move(options), std::move(writer)));
}

}  // namespace tributary::inline store
