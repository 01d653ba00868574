#pragma once

#include <string>

#include "tributary/telemetry/sink.h"

namespace tributary::inline coordinator {

// A run's rounds as comma-separated values for spreadsheets and plotting scripts, one line per round: round, virtual or
// real seconds since the start, duration, who was applied and who not, training loss, accuracy and loss where it was
// evaluated, bytes down and up, and of those samples that devices share.
class RoundsTable : public EventSink {
 public:
  RoundsTable();
  void Write(const Event& event) override;
  // All rounds so far, heading included.
  std::string text() const;

 private:
  std::string lines_;
  std::string round_;      // of the round that finished last, up to its evaluation
  std::string evaluated_;  // accuracy and loss, where known
};

}  // namespace tributary::inline coordinator
