#include "tributary/fleet/protocol/audit_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tributary/base/json_reader.h"
#include "tributary/keys/checksum.h"

namespace tributary::inline protocol {
namespace {

constexpr std::uint64_t kMostInMinute = 1000;
constexpr std::size_t kLongestField = 1000;

Status CannotUse(const std::filesystem::path& path) {
  return IoError("cannot write the audit log " + path.string() + ": " + std::strerror(errno));
}

// Before the first entry.
const std::string& NoLine() {
  static const std::string zeros(64, '0');
  return zeros;
}

Status CheckLine(const std::string& line, std::uint64_t number, const std::string& previous) {
  TRIBUTARY_ASSIGN_OR_RETURN(
      const JsonValue entry,
      ParseJson(line, {.what = "an entry of an audit log", .levels = 2, .parts = 200}));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t found, entry.Count("entry"));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string before, entry.Text("previous"));
  if (found == number && before == previous) return OkStatus();
  return Corrupt("it does not follow the line before: that was changed, or lines were removed or inserted");
}

}  // namespace

StatusOr<AuditState> VerifyAudit(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot read the audit log " + path.string() + ": " + std::strerror(errno));
  return VerifyAudit(file).WithContext(path.string());
}

StatusOr<AuditState> VerifyAudit(std::istream& log) {
  AuditState state{.last = NoLine()};
  for (std::string line; std::getline(log, line);) {
    if (log.eof()) {
      state.unfinished = line.size();
      break;
    }
    Status status = CheckLine(line, state.entries + 1, state.last);
    if (!status.ok()) return std::move(status).WithContext(fmt::format("line {}", state.entries + 1));
    ++state.entries;
    state.bytes += line.size() + 1;
    TRIBUTARY_ASSIGN_OR_RETURN(state.last, Sha256(line));
  }
  return state;
}

StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::filesystem::path& path, WallClock clock) {
  AuditState state{.last = NoLine()};
  if (std::filesystem::exists(path)) {
    auto verified = VerifyAudit(path);
    if (!verified.ok())
      return std::move(verified).status().WithContext(
          "the audit log is damaged; move it away to go on without it");
    state = *verified;
  }
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return CannotUse(path);
  std::unique_ptr<AuditLog> log(new AuditLog(file, std::move(clock)));
  if (state.unfinished > 0 && ftruncate(file, static_cast<off_t>(state.bytes)) != 0) return CannotUse(path);
  {
    const MutexLock lock(log->mutex_);
    log->entries_ = state.entries;
    log->previous_ = state.last;
  }
  if (state.unfinished > 0) log->Record("unfinished", {{"bytes", std::to_string(state.unfinished)}});
  return log;
}

AuditLog::~AuditLog() { close(file_); }

void AuditLog::Record(std::string_view event, const AuditFields& fields) {
  const WallTime now = clock_();
  const MutexLock lock(mutex_);
  if (now - minute_ >= std::chrono::minutes(1) || now < minute_) {
    minute_ = now;
    in_minute_ = 0;
  }
  if (++in_minute_ > kMostInMinute) {
    ++omitted_;
    return;
  }
  const std::chrono::sys_seconds date(std::chrono::duration_cast<std::chrono::seconds>(now));
  nlohmann::ordered_json entry = {{"entry", entries_ + 1},
                                  {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(date))},
                                  {"event", event}};
  for (const auto& [key, value] : fields) entry[std::string(key)] = value.substr(0, kLongestField);
  if (omitted_ > 0) entry["omitted"] = omitted_;
  entry["previous"] = previous_;
  const std::string line = entry.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  const std::string whole = line + "\n";
  // All of it at once, so that a process that is killed leaves a whole line or an unfinished last one.
  if (write(file_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) return;
  auto sum = Sha256(line);
  if (!sum.ok()) return;
  previous_ = *std::move(sum);
  ++entries_;
  omitted_ = 0;
}

}  // namespace tributary::inline protocol
