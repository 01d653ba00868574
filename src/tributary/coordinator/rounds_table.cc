#include "tributary/coordinator/rounds_table.h"

#include <array>
#include <charconv>

namespace tributary::inline coordinator {
namespace {

// The shortest text that reads back to the same number, in every locale.
std::string Number(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end);
}

}  // namespace

RoundsTable::RoundsTable()
    : lines_(
          "round,seconds,duration,applied,late,lost,refused,crashed,bytes_down,bytes_up,bytes_injected,"
          "buffered,overlap,train_loss,accuracy,loss\n") {}

void RoundsTable::Write(const Event& event) {
  if (const auto* round = std::get_if<RoundFinished>(&event.what)) {
    lines_ = text();
    evaluated_ = ",";
    round_ = std::to_string(round->round.value) + "," + Number(ToSeconds(event.time)) + "," +
             Number(ToSeconds(round->duration));
    for (const std::uint64_t count : round->outcomes()) round_ += "," + std::to_string(count);
    for (const Bytes bytes : {round->bytes_down, round->bytes_up, round->bytes_injected}) {
      round_ += "," + std::to_string(bytes.value);
    }
    round_ += "," + std::to_string(round->buffered);
    for (const auto& value : {round->overlap, round->train_loss})
      round_ += "," + (value ? Number(*value) : "");
  } else if (const auto* evaluated = std::get_if<Evaluated>(&event.what)) {
    evaluated_ = Number(evaluated->accuracy) + "," + Number(evaluated->loss);
  }
}

std::string RoundsTable::text() const {
  return round_.empty() ? lines_ : lines_ + round_ + "," + evaluated_ + "\n";
}

}  // namespace tributary::inline coordinator
