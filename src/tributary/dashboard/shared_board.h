#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "tributary/dashboard/board.h"
#include "tributary/telemetry/sink.h"

namespace tributary {

// A board that one thread writes while others look at it. Writing never waits for anybody but a look, which is short: whoever
// looks takes what it needs and turns it into text afterwards.
class SharedBoard : public EventSink {
 public:
  void Describe(const RunFacts& facts) override;
  void Write(const Event& event) override;
  // As Board::SetState, for the devices from the first on.
  void SetStates(const std::vector<std::string>& states);

  // A copy of it as it is now.
  Board Take() const;
  // Changes with everything that is written.
  std::uint64_t version() const;
  // Returns when the version is another than `seen`, after `longest`, or after Close.
  void WaitForChange(std::uint64_t seen, Duration longest) const;

  // From now on nobody waits.
  void Close();
  bool closed() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Board board_;
  std::uint64_t version_ = 0;
  bool closed_ = false;
};

}  // namespace tributary
