#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "tributary/data/stream.h"

namespace tributary {

// The state of a stream, and what of it has been told. Any thread may set it, any may ask.
class StreamStatus {
 public:
  // `what` begins every sentence: "stream pi-1".
  StreamStatus(std::string what, StreamState first);

  // The reason counts as news only with another phase: a broker that is down for ten reasons in turn is down once. A
  // stopped stream stays stopped.
  void Set(StreamPhase phase, std::string reason);

  StreamState state() const;
  std::optional<std::string> TakeNews();

 private:
  mutable std::mutex mutex_;
  const std::string what_;
  StreamState state_;
  StreamPhase told_;
};

}  // namespace tributary
