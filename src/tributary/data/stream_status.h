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

  // News is another phase: a broker that is down for ten reasons in turn is down once. Only what is waited for from the
  // start has no reason yet, and the first one is news. A stopped stream stays stopped.
  void Set(StreamPhase phase, std::string reason);

  StreamState state() const;
  std::optional<std::string> TakeNews();

 private:
  mutable std::mutex mutex_;
  const std::string what_;
  StreamState state_;
  bool fresh_;         // Waiting since the start, for no reason yet.
  bool news_ = false;  // The state was not told.
};

}  // namespace tributary
