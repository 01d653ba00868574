#pragma once

#include <string>
#include <vector>

namespace tributary {

// Text in columns for a person: the first row is the heading, columns that hold only numbers line up on the right,
// others on the left. Widths count characters, not bytes.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heading);
  void AddRow(std::vector<std::string> cells);  // as many as the heading has
  std::string Format() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// 11689512 as "11,689,512".
std::string FormatThousands(std::int64_t number);

}  // namespace tributary
