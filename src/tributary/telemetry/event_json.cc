#include "tributary/telemetry/event_json.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

namespace tributary::inline telemetry {
namespace {

using Json = nlohmann::json;

template <typename E, typename T>
concept Is = std::same_as<std::remove_const_t<E>, T>;

// The fields of each kind of event, in file order: one list for writing and reading.

template <Is<RunStarted> E, typename Visit>
void Fields(E& event, Visit& visit) {
  visit("experiment", event.experiment);
  visit("seed", event.seed);
  visit("method", event.method);
  visit("model", event.model);
  visit("compute_as", event.compute_as);
  visit("data", event.data);
  visit("devices", event.devices);
  visit("parameters", event.parameters);
  visit("rounds", event.rounds);
}

template <Is<RoundStarted> E, typename Visit>
void Fields(E& event, Visit& visit) {
  visit("round", event.round);
  visit("participants", event.participants);
}

template <Is<DeviceFinished> E, typename Visit>
void Fields(E& event, Visit& visit) {
  VisitDeviceFigures([&](const DeviceFigure& figure, auto member) {
    if constexpr (std::is_const_v<E>) {
      if (figure.rare && event.*member == std::remove_cvref_t<decltype(event.*member)>{}) return;
    }
    visit(figure.key, event.*member, figure.added);
  });
}

template <Is<RoundFinished> E, typename Visit>
void Fields(E& event, Visit& visit) {
  visit("round", event.round);
  visit("duration_ns", event.duration);
  visit("applied", event.applied);
  visit("late", event.late);
  visit("lost", event.lost);
  visit("refused", event.refused);
  visit("crashed", event.crashed);
  visit("train_loss", event.train_loss);
  visit("slowest", event.slowest);
  visit("buffered", event.buffered);
  visit("overlap", event.overlap);
  visit("bytes_down", event.bytes_down);
  visit("bytes_up", event.bytes_up);
  visit("bytes_injected", event.bytes_injected);
}

template <Is<Evaluated> E, typename Visit>
void Fields(E& event, Visit& visit) {
  visit("round", event.round);
  visit("where", event.where);
  visit("accuracy", event.accuracy);
  visit("loss", event.loss);
  visit("samples", event.samples);
}

template <Is<RunFinished> E, typename Visit>
void Fields(E& event, Visit& visit) {
  visit("rounds", event.rounds);
  visit("reason", event.reason);
  visit("accuracy", event.accuracy);
}

template <Is<Note> E, typename Visit>
void Fields(E& event, Visit& visit) {
  visit("text", event.text);
}

template <Is<RolledBack> E, typename Visit>
void Fields(E& event, Visit& visit) {
  visit("round", event.round);
  visit("to", event.to);
  visit("reason", event.reason);
}

template <Is<Quarantined> E, typename Visit>
void Fields(E& event, Visit& visit) {
  visit("round", event.round);
  visit("device", event.device);
  visit("reason", event.reason);
}

// Names in the order of the variant's alternatives and of the enumerators.
using What = decltype(Event::what);
constexpr std::array<std::string_view, std::variant_size_v<What>> kTypes = {
    "run-started",  "round-started", "device-finished", "round-finished", "evaluated",
    "run-finished", "note",          "rolled-back",     "quarantined"};

constexpr std::span<const std::string_view> NamesOf(Outcome) { return kOutcomeNames; }
constexpr std::span<const std::string_view> NamesOf(EvaluatedWhere) { return kWhereNames; }
constexpr std::span<const std::string_view> NamesOf(RunEnd) { return kRunEndNames; }

class Writer {
 public:
  template <typename T>
  void operator()(std::string_view key, const T& value, bool /*may_lack*/ = false) {
    text_ += text_.empty() ? "{\"" : ",\"";
    text_ += key;
    text_ += "\":";
    Put(value);
  }

  std::string Finish() && { return std::move(text_) + "}"; }

 private:
  void Put(std::string_view value) {
    text_ += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  void Put(const std::string& value) { Put(std::string_view(value)); }
  template <std::integral T>
  void Put(T value) {
    PutNumber(value);
  }
  void Put(double value) {
    if (std::isnan(value)) return Put(std::string_view("nan"));
    if (std::isinf(value)) return Put(std::string_view(value > 0 ? "inf" : "-inf"));
    PutNumber(value);
    if (value == 0 && std::signbit(value)) text_ += ".0";  // an integer would lose the sign
  }
  template <typename T>
  void Put(const std::optional<T>& value) {
    if (value) return Put(*value);
    text_ += "null";
  }
  template <typename Tag>
  void Put(Id<Tag> id) {
    Put(id.value);
  }
  void Put(Duration duration) { Put(std::int64_t{duration.count()}); }
  void Put(Bytes bytes) { Put(bytes.value); }
  template <typename T>
  requires std::is_enum_v<T>
  void Put(T value) { Put(NameOf(value)); }

  template <typename T>
  void PutNumber(T value) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text_.append(digits.data(), end);
  }

  std::string text_;
};

// A short description of an unexpected value. Does not recurse: nesting may be deep.
std::string Found(const Json& value) {
  if (value.is_structured()) return value.is_array() ? "an array" : "an object";
  constexpr std::size_t kMost = 60;
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > kMost) text = text.substr(0, kMost) + "…";
  return text;
}

// Keeps the first error.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  template <typename T>
  void operator()(std::string_view key, T& value, bool may_lack = false) {
    if (!status_.ok()) return;
    const auto found = object_.find(key);
    if (found == object_.end()) {
      if (may_lack) return;
      status_ = Corrupt(fmt::format("the key '{}' is missing", key));
    } else if (const std::string_view wanted = Get(*found, value); !wanted.empty()) {
      status_ = Corrupt(fmt::format("the key '{}' must be {}, found {}", key, wanted, Found(*found)));
    }
  }

  Status Finish() && { return std::move(status_); }

 private:
  // Each returns what was expected, or an empty text on success.
  std::string_view Get(const Json& json, std::string& value) {
    if (!json.is_string()) return "a text";
    value = json.get_ref<const std::string&>();
    return {};
  }
  std::string_view Get(const Json& json, std::uint64_t& value) {
    if (!json.is_number_unsigned()) return "a whole number of at least 0 that fits in 64 bits";
    value = json.get<std::uint64_t>();
    return {};
  }
  std::string_view Get(const Json& json, std::int64_t& value) {
    constexpr std::string_view kWanted = "a whole number that fits in 64 bits with its sign";
    if (!json.is_number_integer()) return kWanted;
    if (json.is_number_unsigned() &&
        json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return kWanted;
    }
    value = json.get<std::int64_t>();
    return {};
  }
  std::string_view Get(const Json& json, double& value) {
    if (json.is_number()) {
      value = json.get<double>();
    } else if (json == "nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (json == "inf") {
      value = std::numeric_limits<double>::infinity();
    } else if (json == "-inf") {
      value = -std::numeric_limits<double>::infinity();
    } else {
      return R"(a number, "nan", "inf" or "-inf")";
    }
    return {};
  }
  template <typename T>
  std::string_view Get(const Json& json, std::optional<T>& value) {
    value.reset();
    return json.is_null() ? std::string_view() : Get(json, value.emplace());
  }
  template <typename Tag>
  std::string_view Get(const Json& json, Id<Tag>& id) {
    return Get(json, id.value);
  }
  std::string_view Get(const Json& json, Duration& duration) {
    std::int64_t nanoseconds = 0;
    const std::string_view wanted = Get(json, nanoseconds);
    duration = Duration(nanoseconds);
    return wanted;
  }
  std::string_view Get(const Json& json, Bytes& bytes) { return Get(json, bytes.value); }
  template <typename T>
  requires std::is_enum_v<T> std::string_view Get(const Json& json, T& value) {
    const auto names = NamesOf(value);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!json.is_string() || json.get_ref<const std::string&>() != names[i]) continue;
      value = static_cast<T>(i);
      return {};
    }
    names_ = fmt::format("one of {}", fmt::join(names, ", "));
    return names_;
  }

  const Json& object_;
  Status status_;
  std::string names_;
};

template <std::size_t kIndex = 0>
StatusOr<Event> Read(const Json& object, std::size_t index) {
  if constexpr (kIndex < kTypes.size()) {
    if (index != kIndex) return Read<kIndex + 1>(object, index);
    Event event;
    auto& what = event.what.emplace<kIndex>();
    Reader reader(object);
    reader("time_ns", event.time);
    Fields(what, reader);
    Status status = std::move(reader).Finish();
    if (!status.ok()) return std::move(status).WithContext(kTypes[kIndex]);
    return event;
  }
  return Corrupt("unknown type of event");
}

}  // namespace

std::string EventToJson(const Event& event) {
  Writer writer;
  writer("type", kTypes[event.what.index()]);
  writer("time_ns", event.time);
  std::visit([&writer](const auto& what) { Fields(what, writer); }, event.what);
  return std::move(writer).Finish();
}

StatusOr<Event> EventFromJson(std::string_view line) {
  const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return Corrupt("the line is not JSON");
  if (!object.is_object()) return Corrupt("an event must be a JSON object, found " + Found(object));
  const auto type = object.find("type");
  if (type == object.end()) return Corrupt("the key 'type' is missing");
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (type->is_string() && type->get_ref<const std::string&>() == kTypes[i]) return Read(object, i);
  }
  return Corrupt(
      fmt::format("the key 'type' must be one of {}, found {}", fmt::join(kTypes, ", "), Found(*type)));
}

}  // namespace tributary::inline telemetry
