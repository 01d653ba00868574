#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/coordinator/rounds_table.h"
#include "tributary/experiment/experiment.h"
#include "tributary/model/weights_file.h"
#include "tributary/telemetry/sink.h"

namespace tributary {

// What a run leaves behind: experiment.toml (as run), events.jsonl while it runs, and at its end rounds.csv,
// weights.safetensors and summary.json.
class RunFolder {
 public:
  // The folder must not exist or be empty; its parents are made.
  static StatusOr<RunFolder> Create(const std::filesystem::path& path, const Experiment& experiment);

  // Where the run's events go.
  EventSink& events() { return *events_; }
  EventSink& rounds() { return rounds_; }

  Status Finish(const Model& model, std::span<const float> parameters, std::span<const float> statistics,
                const Metadata& metadata, std::string_view summary);

 private:
  RunFolder() = default;

  std::filesystem::path path_;
  std::unique_ptr<JsonLinesSink> events_;
  RoundsTable rounds_;
};

}  // namespace tributary
