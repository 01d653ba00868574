#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/data/load.h"

namespace tributary::inline data {

// Something about data that a person should know before training on them.
struct DataFinding {
  bool error = false;  // They cannot be trained on as they are.
  std::string where;   // A file, or a part of the data; may be empty.
  std::string what;
  std::string advice;  // What to do; may be empty.
};

// What one part of the data holds.
struct DataPart {
  std::int64_t samples = 0;
  std::vector<std::int64_t> class_counts;
  std::vector<float> mean, deviation;  // of each channel, before normalisation
};

struct DataCheck {
  std::string kind;  // "pictures", "recordings", "arrays", "IDX files", "CIFAR files" or a known name
  Shape shape;
  std::vector<std::string> class_names;
  DataPart train, test;               // empty where something is wrong with the data
  std::int64_t repeated = 0;          // training samples that are another's copy
  std::int64_t shared = 0;            // test samples that are also training samples
  std::vector<DataFinding> findings;  // errors first
  std::size_t left_out = 0;           // that there were more of

  bool ok() const { return findings.empty() || !findings.front().error; }
};

// Looks at everything that a run would read, and goes on after what is wrong, so that all of it is told at once. What is
// named cannot be found, or is nothing that is known: an error. At most `most` findings are kept.
StatusOr<DataCheck> CheckData(const DataOptions& options, std::size_t most = 100);

}  // namespace tributary::inline data
