#include "tributary/coordinator/rounds_table.h"

#include <array>
#include <charconv>

namespace tributary {
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
             Number(ToSeconds(round->duration)) + "," + std::to_string(round->applied) + "," +
             std::to_string(round->late) + "," + std::to_string(round->lost) + "," +
             std::to_string(round->refused) + "," + std::to_string(round->crashed) + "," +
             std::to_string(round->bytes_down.value) + "," + std::to_string(round->bytes_up.value) + "," +
             std::to_string(round->bytes_injected.value) + "," + std::to_string(round->buffered) + "," +
             (round->overlap ? Number(*round->overlap) : "") + "," +
             (round->train_loss ? Number(*round->train_loss) : "");
  } else if (const auto* evaluated = std::get_if<Evaluated>(&event.what)) {
    evaluated_ = Number(evaluated->accuracy) + "," + Number(evaluated->loss);
  }
}

std::string RoundsTable::text() const {
  return round_.empty() ? lines_ : lines_ + round_ + "," + evaluated_ + "\n";
}

}  // namespace tributary
