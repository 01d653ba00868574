#include "tributary/base/text_table.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline base {
namespace {

std::size_t Columns(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool LooksNumeric(const std::string& text) {
  return text.empty() || text == "-" ||
         (text.front() >= '0' && text.front() <= '9' && text.find('x') == std::string::npos);
}

}  // namespace

TextTable::TextTable(std::vector<std::string> heading, Right right) : right_(right) {
  rows_.push_back(std::move(heading));
}

void TextTable::AddRow(std::vector<std::string> cells) {
  TRIBUTARY_CHECK(cells.size() == rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::Format() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> on_the_right(columns, true);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], Columns(rows_[r][c]));
      if (right_ == Right::kNumbers && r > 0 && !LooksNumeric(rows_[r][c])) on_the_right[c] = false;
    }
  }
  if (right_ == Right::kAllButFirst) on_the_right[0] = false;
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string padding(widths[c] - Columns(row[c]), ' ');
      line += on_the_right[c] ? padding + row[c] : row[c] + padding;
      if (c + 1 < columns) line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string FormatThousands(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

}  // namespace tributary::inline base
