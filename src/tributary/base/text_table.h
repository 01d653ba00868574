#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tributary::inline base {

// Text in columns for a person, the first row the heading. Widths count letters, not bytes.
class TextTable {
 public:
  // Which columns line up on the right.
  enum class Right {
    kNumbers,      // those that hold only numbers
    kAllButFirst,  // all figures behind a name
  };

  explicit TextTable(std::vector<std::string> heading, Right right = Right::kNumbers);
  void AddRow(std::vector<std::string> cells);  // as many as the heading has
  std::string Format() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  Right right_;
};

// 11689512 as "11,689,512".
std::string FormatThousands(std::int64_t number);

}  // namespace tributary::inline base
