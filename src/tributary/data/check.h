#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/data/load.h"

namespace tributary::inline data {

// A problem or peculiarity of data, for a person to see before training.
struct DataFinding {
  bool error = false;  // The data cannot be used for training as it is.
  std::string where;   // a file, or a part of the data; may be empty
  std::string what;
  std::string advice;  // may be empty
};

// Statistics of one part of the data.
struct DataPart {
  std::int64_t samples = 0;
  std::vector<std::int64_t> class_counts;
  std::vector<float> mean, deviation;  // per channel, before normalisation
};

struct DataCheck {
  std::string kind;  // "pictures", "recordings", "arrays", "IDX files", "CIFAR files" or a known name
  Shape shape;
  std::vector<std::string> class_names;
  DataPart train, test;               // empty if the data has errors
  std::int64_t repeated = 0;          // training samples that are copies of another
  std::int64_t shared = 0;            // test samples that are also training samples
  std::vector<DataFinding> findings;  // errors first
  std::size_t left_out = 0;           // number of findings beyond the limit

  bool ok() const { return findings.empty() || !findings.front().error; }
};

// Checks everything that a run would read and continues after errors, to report all of them. Fails only if
// the data is not found or of an unknown kind. Keeps at most `most` findings.
StatusOr<DataCheck> CheckData(const DataOptions& options, std::size_t most = 100);

}  // namespace tributary::inline data
