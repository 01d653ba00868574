#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tributary::inline base {

// A plain-text table; the first row is the heading. Widths count characters, not bytes.
class TextTable {
 public:
  // Which columns are right-aligned.
  enum class Right {
    kNumbers,      // columns that contain only numbers
    kAllButFirst,  // all columns but the first
  };

  explicit TextTable(std::vector<std::string> heading, Right right = Right::kNumbers);
  void AddRow(std::vector<std::string> cells);  // one cell for each column of the heading
  std::string Format() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  Right right_;
};

// 11689512 as "11,689,512".
std::string FormatThousands(std::int64_t number);

}  // namespace tributary::inline base
