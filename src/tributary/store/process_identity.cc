#include "tributary/store/process_identity.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>
#include <vector>

namespace tributary::inline store {
namespace {

constexpr WallTime kSilence = std::chrono::minutes(1);

std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "?";
  return name.data();
}

std::string BootId() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

// In clock ticks since the machine started, as the kernel counts them; nothing where there is no such process.
std::optional<std::string> StartOf(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  // The name, in parentheses, may hold anything; the 22nd field is the 20th after it.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::size_t at = name_end + 1;
  for (int field = 0; field < 19; ++field) {
    at = text.find(' ', at + 1);
    if (at == std::string::npos) return std::nullopt;
  }
  // A process that has ended and is not collected yet is gone, too.
  if (text.compare(name_end, 3, ") Z") == 0) return std::nullopt;
  return text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

}  // namespace

std::string ThisProcess() {
  const std::string pid = std::to_string(::getpid());
  return HostName() + "\n" + BootId() + "\n" + pid + "\n" + StartOf(pid).value_or("?");
}

bool IsGone(std::string_view process, WallTime last_heard, WallTime now) {
  std::vector<std::string> fields;
  while (fields.size() < 4) {
    const std::size_t end = process.find('\n');
    fields.emplace_back(process.substr(0, end));
    if (end == std::string_view::npos) break;
    process.remove_prefix(end + 1);
  }
  if (fields.size() != 4 || fields[2].empty() ||
      fields[2].find_first_not_of("0123456789") != std::string::npos) {
    return true;
  }
  if (fields[0] != HostName()) return now - last_heard > kSilence;
  return fields[1] != BootId() || StartOf(fields[2]) != fields[3];
}

}  // namespace tributary::inline store
