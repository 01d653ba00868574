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
  std::filesystem::path newest;  // file for the newest list ever accepted; empty for none
};

// The certificates that an authority has revoked, as a running coordinator sees them: read from revoked.pem,
// and read again when the file changes.
//
// An expired list is refused at the start. When the list in force expires, all peers are refused until there
// is a newer one. The newest list is kept in a separate file, so that an older one is also refused after a
// restart.
//
// TLS accepts a peer whose certificate the authority signed; Check then tests whether it is revoked. Call
// Refresh before admitting a peer, and periodically to check connected peers again. Thread-safe.
class RevocationList {
 public:
  // The list must be signed by the authority, not expired and not older than the newest one.
  static StatusOr<std::unique_ptr<RevocationList>> Load(const std::filesystem::path& path,
                                                        std::string_view authority_pem,
                                                        RevocationListOptions options = {});

  // Fails for a revoked certificate ("the certificate of 'pi-3' has been revoked"), one that this authority
  // did not sign, and bytes that are no certificate; for all when the list as last read has expired.
  Status Check(std::string_view certificate_pem) const;

  // Reads the file again if it has changed, at the cost of one stat otherwise. A file that is missing,
  // malformed, signed by another authority or older than the list in force (an attempt to undo a revocation)
  // is an error for the log; the list in force remains.
  Status Refresh();

  // A warning for the log in the last 14 days of the list in force: the consequence, and the command that
  // prevents it. Else empty.
  std::string Warning() const;

 private:
  // Detects a change of the file without reading it.
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
  std::uint64_t number_ TRIBUTARY_GUARDED_BY(mutex_) = 0;     // of the newest accepted list
  std::time_t next_update_ TRIBUTARY_GUARDED_BY(mutex_) = 0;  // of the list in force
  std::set<std::string, std::less<>> serials_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline keys
