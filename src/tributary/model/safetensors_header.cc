#include "tributary/model/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace tributary::inline model {
namespace {

// More than any array library supports; bounds a hostile shape.
constexpr std::size_t kMostSizes = 64;

// SAX reader that accepts exactly the structure of the format. A tree would drop repeated keys, and events
// allow refusing too deep a nesting immediately.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  StatusOr<SafetensorsHeader> Result(bool parsed) && {
    if (!parsed) return Corrupt(std::move(error_));
    return std::move(header_);
  }

  bool start_object(std::size_t) override {
    if (array_ != nullptr || depth_ == 2) return Unexpected("an object");
    if (++depth_ == 1) return true;
    in_metadata_ = key_ == kSafetensorsMetadata;
    if (in_metadata_)
      return !std::exchange(metadata_seen_, true) || Fail("the header has two blocks of metadata");
    header_.entries.push_back({key_, {}, {}, {}});
    fields_.clear();
    return true;
  }

  bool end_object() override {
    if (depth_-- == 2 && !in_metadata_) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        if (!fields_.contains(field)) return Fail(Where() + " has no " + field);
      }
      const std::size_t offsets = Entry().offsets.size();
      if (offsets != 2) {
        return Fail(Where() + " has " + std::to_string(offsets) +
                    " data_offsets; there must be two, begin and end");
      }
    }
    return true;
  }

  bool key(std::string& key) override {
    key_ = std::move(key);
    if (depth_ == 1) return true;
    if (in_metadata_)
      return !header_.metadata.contains(key_) || Fail("the metadata has two values for " + QuoteName(key_));
    if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets")
      return Fail(Where() + " has a field " + QuoteName(key_) + "; known are dtype, shape and data_offsets");
    return fields_.insert(key_).second || Fail(Where() + " has the field " + key_ + " twice");
  }

  bool string(std::string& text) override {
    if (depth_ == 2 && in_metadata_) {
      header_.metadata.emplace(key_, std::move(text));
      return true;
    }
    if (depth_ != 2 || array_ != nullptr || key_ != "dtype") return Unexpected("a text");
    Entry().dtype = std::move(text);
    return true;
  }

  bool start_array(std::size_t) override {
    const bool expected = depth_ == 2 && !in_metadata_ && array_ == nullptr && key_ != "dtype";
    if (!expected) return Unexpected("a list");
    array_ = key_ == "shape" ? &Entry().shape : &Entry().offsets;
    return true;
  }

  bool end_array() override {
    array_ = nullptr;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (array_ == nullptr) return Unexpected("a number");
    if (array_->size() == kMostSizes)
      return Fail(Where() + " has more than " + std::to_string(kMostSizes) + " numbers in its " + key_);
    array_->push_back(value);
    return true;
  }

  bool number_integer(number_integer_t) override { return Unexpected("a negative number"); }
  bool number_float(number_float_t, const std::string&) override {
    return Unexpected("a number that is not whole");
  }
  bool null() override { return Unexpected("null"); }
  bool boolean(bool) override { return Unexpected("a truth value"); }
  bool binary(nlohmann::json::binary_t&) override { return Unexpected("binary data"); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    return Fail("the header is not valid JSON at its byte " + std::to_string(position));
  }

 private:
  SafetensorsHeader::Entry& Entry() { return header_.entries.back(); }
  std::string Where() { return "tensor " + QuoteName(Entry().name); }

  bool Fail(std::string message) {
    error_ = std::move(message);
    return false;
  }

  bool Unexpected(const std::string& found) {
    if (depth_ == 0) return Fail("the header is " + found + "; it must be an object");
    if (depth_ == 1)
      return Fail("the header has " + found + " under " + QuoteName(key_) + "; it must be an object");
    if (in_metadata_)
      return Fail("the metadata has " + found + " under " + QuoteName(key_) + "; it must be a text");
    return Fail(
        Where() + " has " + found + (array_ != nullptr ? " in its " : " as its ") + key_ +
        (key_ == "dtype" ? "; it must be a text" : "; it must be a list of whole numbers of at least 0"));
  }

  SafetensorsHeader header_;
  std::string error_;
  int depth_ = 0;
  std::string key_;
  bool in_metadata_ = false;
  bool metadata_seen_ = false;
  std::set<std::string> fields_;
  std::vector<std::uint64_t>* array_ = nullptr;
};

}  // namespace

StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json) {
  // The parser would skip white space and a byte-order mark, but the format requires the brace first.
  if (!json.starts_with('{')) return Corrupt("the header does not start with '{'");
  // The parser would take a zero byte for the end of the text.
  if (json.find('\0') != std::string_view::npos) return Corrupt("the header has a zero byte");
  HeaderReader reader;
  try {
    const bool parsed = nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
    return std::move(reader).Result(parsed);
  } catch (const nlohmann::json::exception& error) {
    return Corrupt(std::string("the header is not valid JSON: ") + error.what());
  }
}

std::optional<std::uint64_t> ElementsOf(std::span<const std::uint64_t> shape) {
  std::uint64_t elements = 1;
  for (const std::uint64_t size : shape) {
    if (__builtin_mul_overflow(elements, size, &elements)) return std::nullopt;
  }
  return elements;
}

std::string DescribeShape(std::span<const std::uint64_t> shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

std::string QuoteName(std::string_view name) {
  constexpr std::size_t kLongest = 96;
  std::size_t length = std::min(name.size(), kLongest);
  // Do not cut inside a UTF-8 character: its continuation bytes start with the bits 10.
  while (length > 0 && length < name.size() && (static_cast<unsigned char>(name[length]) & 0xc0) == 0x80)
    --length;
  std::string text = "'" + std::string(name.substr(0, length));
  for (char& letter : text) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = '?';
  }
  return text + (length < name.size() ? "…'" : "'");
}

}  // namespace tributary::inline model
