#include "tributary/store/run_record.h"

#include <algorithm>

namespace tributary {

std::string_view NameOf(RunState state) {
  switch (state) {
    case RunState::kRunning:
      return "running";
    case RunState::kFinished:
      return "finished";
    case RunState::kInterrupted:
      return "interrupted";
    case RunState::kFailed:
      return "failed";
    case RunState::kDied:
      return "died";
  }
  return "";
}

std::optional<double> RunRecord::waiting_share() const {
  if (present <= Duration(0)) return std::nullopt;
  return std::clamp(ToSeconds(waited) / ToSeconds(present), 0.0, 1.0);
}

}  // namespace tributary
