#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/base/wall_clock.h"

namespace tributary::inline protocol {

// What goes into the audit log: a kind of event, and what there is to say of it.
using AuditFields = std::vector<std::pair<std::string_view, std::string>>;
// From any thread, also with locks held.
using Audit = std::function<void(std::string_view event, const AuditFields& fields)>;

// Who joined a run, left it, was refused or changed it: `audit.jsonl` of a run's folder, one JSON object per line, with its
// number, the date and, as `previous`, the SHA-256 of the line before. Entries are only ever appended. So a line that is
// changed, removed or inserted later breaks the chain, unless all lines after it are made anew: keep the checksum of the
// last line (VerifyAudit) elsewhere to find that, too.
class AuditLog {
 public:
  // Goes on with the file if there is one; refuses one whose chain is broken. A last line that a killed process did not
  // finish is taken off, which an entry says.
  static StatusOr<std::unique_ptr<AuditLog>> Open(const std::filesystem::path& path, WallClock clock);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Thread-safe. At most 1000 entries in a minute, so that nobody fills the disk: how many were left out, the next says.
  // Whether the disk takes it is not checked: showing a run never stops it.
  void Record(std::string_view event, const AuditFields& fields);

 private:
  AuditLog(int file, WallClock clock) : file_(file), clock_(std::move(clock)) {}

  const int file_;
  const WallClock clock_;
  Mutex mutex_;
  std::uint64_t entries_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  std::string previous_ TRIBUTARY_GUARDED_BY(mutex_);
  WallTime minute_ TRIBUTARY_GUARDED_BY(mutex_){0};
  std::uint64_t in_minute_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  std::uint64_t omitted_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
};

struct AuditState {
  std::uint64_t entries = 0;
  std::string last;              // checksum of the last line
  std::uint64_t bytes = 0;       // of whole lines
  std::uint64_t unfinished = 0;  // and of a last line without an end
};

// Checks the chain of a log. Corrupt, with the number of the line, if it is broken.
StatusOr<AuditState> VerifyAudit(const std::filesystem::path& path);
StatusOr<AuditState> VerifyAudit(std::istream& log);

}  // namespace tributary::inline protocol
