#pragma once

#include <cstdint>
#include <functional>

#include "tributary/base/mutex.h"
#include "tributary/dashboard/board.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline dashboard {

// A board that one thread writes while others look at it. Writing never waits for anybody but a look, which is short: whoever
// looks takes what it needs and turns it into text afterwards.
class SharedBoard : public EventSink {
 public:
  void Describe(const RunMetadata& metadata) override;
  void Write(const Event& event) override;
  // As Board::SetState, for the devices from the first on.
  void SetStates(const std::vector<std::string>& states);

  // A copy of it as it is now.
  Board Take() const;
  // Changes with everything that is written.
  std::uint64_t version() const;
  // Returns when the version is another than `seen`, after `longest`, or after Close.
  void WaitForChange(std::uint64_t seen, Duration longest) const;

  // From now on no call waits.
  void Close();
  bool closed() const;

 private:
  mutable Mutex mutex_;
  mutable Condition changed_;
  Board board_ TRIBUTARY_GUARDED_BY(mutex_);
  std::uint64_t version_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  bool closed_ TRIBUTARY_GUARDED_BY(mutex_) = false;
};

}  // namespace tributary::inline dashboard
