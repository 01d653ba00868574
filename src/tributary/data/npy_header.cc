#include "tributary/data/npy_header.h"

#include <charconv>

namespace tributary {
namespace {

// A reader for the small part of Python that NumPy writes. Every step moves forward or fails.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::size_t offset) : text_(text), offset_(offset) {}

  StatusOr<NpyHeader> Read() {
    NpyHeader header;
    bool seen[3] = {};
    TRIBUTARY_RETURN_IF_ERROR(Expect('{'));
    while (!Accept('}')) {
      TRIBUTARY_ASSIGN_OR_RETURN(const std::string key, String("a key"));
      TRIBUTARY_RETURN_IF_ERROR(Expect(':'));
      std::size_t which = 0;
      if (key == "descr") {
        if (Peek() == '[') return Fail("a plain type; arrays of structures are not read");
        TRIBUTARY_ASSIGN_OR_RETURN(header.type, String("a type"));
      } else if (key == "fortran_order") {
        which = 1;
        TRIBUTARY_ASSIGN_OR_RETURN(header.fortran_order, Boolean());
      } else if (key == "shape") {
        which = 2;
        TRIBUTARY_ASSIGN_OR_RETURN(header.shape, Tuple());
      } else {
        return Fail("the value of 'descr', 'fortran_order' or 'shape', but the key before is '" + key + "'");
      }
      if (seen[which]) return Fail("each key once, but '" + key + "' is given twice");
      seen[which] = true;
      if (!Accept(',') && Peek() != '}') return Fail("',' or '}'");
    }
    if (!seen[0] || !seen[1] || !seen[2]) return Fail("'descr', 'fortran_order' and 'shape' before the end");
    SkipSpace();
    if (at_ != text_.size()) return Fail("nothing but spaces after '}'");
    return header;
  }

 private:
  static bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  // The next character after spaces, or 0 at the end.
  char Peek() {
    SkipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Accept(char c) {
    if (at_ >= text_.size() || Peek() != c) return false;
    ++at_;
    return true;
  }
  Status Expect(char c) { return Accept(c) ? OkStatus() : Fail(std::string("'") + c + "'"); }

  Status Fail(const std::string& expected) {
    SkipSpace();
    std::string found = at_ < text_.size() ? "'" : "the end of the header";
    if (at_ < text_.size()) {
      const char c = text_[at_];
      found +=
          c >= ' ' && c <= '~' ? std::string(1, c) : "\\" + std::to_string(static_cast<unsigned char>(c));
      found += "'";
    }
    return Corrupt("the header at byte " + std::to_string(offset_ + at_) + " must have " + expected +
                   "; found " + found);
  }

  StatusOr<std::string> String(const std::string& what) {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return Fail(what + " in quotes");
    const std::size_t end = text_.find(quote, at_ + 1);
    constexpr std::size_t kLongest = 64;
    if (end == std::string_view::npos || end - at_ > kLongest) return Fail(what + " in quotes");
    std::string content(text_.substr(at_ + 1, end - at_ - 1));
    for (const char c : content) {
      // Also keeps strange bytes out of later messages.
      if (c < ' ' || c > '~' || c == '\\') return Fail(what + " of plain characters");
    }
    at_ = end + 1;
    return content;
  }

  StatusOr<bool> Boolean() {
    SkipSpace();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    return Fail("True or False");
  }

  StatusOr<std::vector<std::size_t>> Tuple() {
    std::vector<std::size_t> sides;
    TRIBUTARY_RETURN_IF_ERROR(Expect('('));
    while (!Accept(')')) {
      if (sides.size() == kNpyMostDimensions) {
        return Fail("at most " + std::to_string(kNpyMostDimensions) + " dimensions");
      }
      SkipSpace();
      std::size_t side = 0;
      const auto [rest, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), side);
      if (error != std::errc()) return Fail("a whole number below 2^64");
      at_ = static_cast<std::size_t>(rest - text_.data());
      sides.push_back(side);
      // (5) is a number in Python, (5,) a tuple of one.
      if (!Accept(',') && (Peek() != ')' || sides.size() == 1)) return Fail("','");
    }
    return sides;
  }

  std::string_view text_;
  std::size_t offset_;
  std::size_t at_ = 0;
};

}  // namespace

StatusOr<NpyHeader> ParseNpyHeader(std::string_view text, std::size_t offset) {
  return HeaderReader(text, offset).Read();
}

}  // namespace tributary
