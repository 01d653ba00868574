#include "tributary/experiment/document.h"

#include <algorithm>
#include <cctype>

// Some inputs violate the library's assertions (e.g. a table named "[="), and the code after them copes. The
// assertions must neither abort nor, with NDEBUG, become optimiser assumptions.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#define TOML_MAX_NESTED_VALUES 16
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "tributary/experiment/quantity.h"

namespace tributary::inline experiment {
namespace {

// Length of the quoted string at the start of `rest`; npos if it does not end on its line.
std::size_t LengthOfQuoted(std::string_view rest) {
  const char quote = rest.front();
  for (std::size_t i = 1; i < rest.size() && rest[i] != '\n'; ++i) {
    if (rest[i] == quote) return i + 1;
    if (quote == '"' && rest[i] == '\\') ++i;
  }
  return std::string_view::npos;
}

// Whether a value or a bare key may end with `c`, so that no other token may follow directly.
bool EndsAWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-+:\"'").find(c) != std::string_view::npos;
}

}  // namespace

Status CheckLexically(std::string_view text, const std::string& name) {
  int line = 1;
  int dots = 0;
  char before = '\n';  // the previous character; the closing quote after a string
  const auto fail = [&](std::string_view what) {
    return InvalidArgument(name + ":" + std::to_string(line) + ": " + std::string(what));
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const char c = rest.front();
    std::size_t length = 1;
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (control && std::string_view("\t\r\n").find(c) == std::string_view::npos) {
      return fail("a control character outside of a text in quotes");
    }
    // After a number the library reads on without regard to quotes.
    if (std::string_view("\"'[{").find(c) != std::string_view::npos && EndsAWord(before)) {
      return fail(std::string("a ") + c + " directly behind a value or a key");
    }
    before = c;
    if (c == '"' || c == '\'') {
      if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
        return fail("a text over several lines; texts stand on one line, in single quotes");
      }
      length = LengthOfQuoted(rest);
      if (length == std::string_view::npos) return fail("a text in quotes that does not end on its line");
    } else if (c == '#') {
      length = std::min(rest.find('\n'), rest.size());
    } else if (c == '.') {
      if (++dots >= kMostKeyParts)
        return fail("a key of more than " + std::to_string(kMostKeyParts) + " parts");
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return fail("a character that is not ASCII outside of a text in quotes");
    } else if (std::string_view("=,[{\n").find(c) != std::string_view::npos) {
      dots = 0;
      if (c == '\n') ++line;
    }
    i += length;
  }
  return OkStatus();
}

namespace {

constexpr int kDeepest = 16;

std::string AtLine(const std::string& name, toml::source_index line) {
  return name + ":" + std::to_string(line) + ": ";
}

StatusOr<Value> Convert(const toml::node& node, const std::string& name, int depth) {
  Value value;
  value.place.line = static_cast<int>(node.source().begin.line);
  if (depth > kDeepest) {
    return InvalidArgument(AtLine(name, node.source().begin.line) + "tables and lists are nested more than " +
                           std::to_string(kDeepest) + " deep");
  }
  if (const auto* flag = node.as_boolean()) {
    value.content = flag->get();
  } else if (const auto* whole = node.as_integer()) {
    value.content = whole->get();
  } else if (const auto* number = node.as_floating_point()) {
    value.content = number->get();
  } else if (const auto* text = node.as_string()) {
    value.content = text->get();
  } else if (const auto* array = node.as_array()) {
    List list;
    for (const toml::node& item : *array) {
      TRIBUTARY_ASSIGN_OR_RETURN(Value converted, Convert(item, name, depth + 1));
      list.push_back(std::move(converted));
    }
    value.content = std::move(list);
  } else if (const auto* table = node.as_table()) {
    Table members;
    for (const auto& [key, item] : *table) {
      TRIBUTARY_ASSIGN_OR_RETURN(Value converted, Convert(item, name, depth + 1));
      members.push_back({std::string(key.str()), std::move(converted)});
    }
    // The library sorts by name; the error that is reported should be the first one in the file.
    std::stable_sort(members.begin(), members.end(), [](const KeyValue& a, const KeyValue& b) {
      return a.value.place.line < b.value.place.line;
    });
    value.content = std::move(members);
  }
  return value;
}

}  // namespace

StatusOr<Document> ParseDocument(std::string_view text, std::string name) {
  if (static_cast<std::int64_t>(text.size()) > kLargestDocument.value) {
    return ResourceExhausted(name + " has " + FormatBytes(Bytes{static_cast<std::int64_t>(text.size())}) +
                             "; an experiment may have " + FormatBytes(kLargestDocument));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  TRIBUTARY_RETURN_IF_ERROR(CheckLexically(text, name));
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return InvalidArgument(AtLine(name, parsed.error().source().begin.line) +
                           "this is not TOML: " + std::string(parsed.error().description()));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(Value root, Convert(parsed.table(), name, 0));
  root.place.line = 1;
  return Document{std::move(name), std::move(root)};
}

std::string Describe(const Value& value) {
  struct {
    std::string operator()(Value::Moment) const { return "a date or time"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return std::to_string(whole); }
    std::string operator()(double number) const { return FormatNumber(number); }
    std::string operator()(const std::string& text) const {
      constexpr std::size_t kLongest = 48;
      return text.size() <= kLongest ? '"' + text + '"' : '"' + text.substr(0, kLongest) + "…\"";
    }
    std::string operator()(const List& list) const { return "a list of " + std::to_string(list.size()); }
    std::string operator()(const Table&) const { return "a table"; }
  } describe;
  return std::visit(describe, value.content);
}

const Value* FindMember(const Table& table, std::string_view key) {
  const auto found = std::ranges::find(table, key, &KeyValue::key);
  return found == table.end() ? nullptr : &found->value;
}

std::string Prefix(const std::string& document, const Place& place) {
  if (!place.setting.empty()) return "--set " + place.setting + ": ";
  return document + ":" + std::to_string(place.line) + ": ";
}

}  // namespace tributary::inline experiment
