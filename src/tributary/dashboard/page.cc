#include "tributary/dashboard/page.h"

#include "tributary/base/check.h"

namespace tributary::inline dashboard {
namespace {

constexpr std::string_view kPlace = "<script id=\"board\" type=\"application/json\"></script>";
constexpr std::string_view kEnd = "</script>";

}  // namespace

std::string PageWithBoard(std::string_view page, std::string_view board) {
  const std::size_t place = page.find(kPlace);
  TRIBUTARY_CHECK(place != std::string_view::npos);
  std::string text(page.substr(0, place + kPlace.size() - kEnd.size()));
  for (const char c : board) {
    if (c == '<') {
      text += "\\u003c";  // The same letter in a JSON text, and '<' stands nowhere else in JSON.
    } else {
      text += c;
    }
  }
  return text.append(page.substr(place + kPlace.size() - kEnd.size()));
}

}  // namespace tributary::inline dashboard
