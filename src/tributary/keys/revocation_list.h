#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/base/wall_clock.h"

namespace tributary::inline keys {

struct RevocationListOptions {
  WallClock wall_clock = SystemWallClock();
  std::filesystem::path newest;  // a file for the newest list ever accepted; empty for none
};

// The certificates that an authority has taken back, as a running coordinator sees them: read from revoked.pem, and
// read again when the file has changed.
//
// A list that has expired counts for nothing: it is refused at the start, and when the one in force expires, everybody is
// refused until there is a newer one. The newest list is kept in a file of its own, so that an older one is refused after a
// restart too.
//
// TLS accepts a peer whose certificate the authority signed; Check then says whether it still stands. Call Refresh
// before admitting a peer, and from time to time to check again those that are connected. Safe to use from any
// thread.
class RevocationList {
 public:
  // The list must be signed by the authority, and neither be expired nor be older than the newest one.
  static StatusOr<std::unique_ptr<RevocationList>> Load(const std::filesystem::path& path,
                                                        std::string_view authority_pem,
                                                        RevocationListOptions options = {});

  // Refused: a revoked certificate ("the certificate of 'pi-3' has been revoked"), one that this authority did not
  // sign, and bytes that are no certificate; every one once the list as last read has expired.
  Status Check(std::string_view certificate_pem) const;

  // Reads the file again if it is not the one read last; else costs one look at the file. A file that is gone,
  // broken, signed by somebody else or older than what is known (an attempt to undo a revocation) is an error for
  // the log, and the list as it was stays in force.
  Status Refresh();

  // From 14 days before the end of the list in force: what will happen and which command prevents it, for the log. Empty
  // before.
  std::string Warning() const;

 private:
  // What tells one state of a file from another without reading it.
  struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified_ns = 0, changed_ns = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  RevocationList(std::filesystem::path path, std::string_view authority_pem, RevocationListOptions options)
      : path_(std::move(path)), authority_pem_(authority_pem), options_(std::move(options)) {}
  StatusOr<Stamp> Look() const;
  std::time_t Now() const;

  const std::filesystem::path path_;
  const std::string authority_pem_;
  const RevocationListOptions options_;
  mutable Mutex mutex_;
  Stamp stamp_ TRIBUTARY_GUARDED_BY(mutex_);
  std::uint64_t number_ TRIBUTARY_GUARDED_BY(mutex_) = 0;     // the newest accepted
  std::time_t next_update_ TRIBUTARY_GUARDED_BY(mutex_) = 0;  // of the list in force
  std::set<std::string, std::less<>> serials_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline keys
