#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/data/check.h"

namespace tributary {

// Findings as they come, as many as are kept.
class Findings {
 public:
  explicit Findings(std::size_t most) : most_(most) {}
  void Error(std::string where, std::string what, std::string advice) {
    Add(true, std::move(where), std::move(what), std::move(advice));
  }
  void Warn(std::string where, std::string what, std::string advice) {
    Add(false, std::move(where), std::move(what), std::move(advice));
  }
  bool errors() const { return errors_; }
  void MoveTo(DataCheck& check) &&;

 private:
  void Add(bool error, std::string where, std::string what, std::string advice);

  const std::size_t most_;
  bool errors_ = false;
  std::vector<DataFinding> error_list_, warning_list_;
  std::size_t left_out_ = 0;
};

// What is wrong with single files of a folder of its kind, beyond the first that would stop a run.
void CheckArrays(const std::filesystem::path& folder, Findings& findings);
void CheckImages(const DataOptions& options, Findings& findings);
void CheckRecordings(const DataOptions& options, Findings& findings);

struct SampleHash {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const SampleHash&, const SampleHash&) = default;
  struct Of {
    std::size_t operator()(const SampleHash& hash) const { return static_cast<std::size_t>(hash.low); }
  };
};
SampleHash HashOf(ByteSpan bytes);

}  // namespace tributary
