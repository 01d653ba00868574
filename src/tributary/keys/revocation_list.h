#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "tributary/base/mutex.h"
#include "tributary/base/status.h"

namespace tributary::inline keys {

// The certificates that an authority has revoked, as a running coordinator sees them: read from revoked.pem,
// and read again when the file changes.
//
// TLS accepts a peer whose certificate the authority signed; Check then tests whether it is revoked. Call
// Refresh before admitting a peer, and periodically to check connected peers again. Thread-safe.
class RevocationList {
 public:
  // The list must be signed by the authority; its age does not matter.
  static StatusOr<std::unique_ptr<RevocationList>> Load(const std::filesystem::path& path,
                                                        std::string_view authority_pem);

  // Fails for a revoked certificate ("the certificate of 'pi-3' has been revoked"), one that this authority
  // did not sign, and bytes that are no certificate. Uses the list as last read.
  Status Check(std::string_view certificate_pem) const;

  // Reads the file again if it has changed, at the cost of one stat otherwise. A file that is missing,
  // malformed, signed by another authority or older than the list in force (an attempt to undo a revocation)
  // is an error for the log; the list in force remains.
  Status Refresh();

 private:
  // Detects a change of the file without reading it.
  struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified_ns = 0, changed_ns = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  RevocationList(std::filesystem::path path, std::string_view authority_pem)
      : path_(std::move(path)), authority_pem_(authority_pem) {}
  StatusOr<Stamp> Look() const;

  const std::filesystem::path path_;
  const std::string authority_pem_;
  mutable Mutex mutex_;
  Stamp stamp_ TRIBUTARY_GUARDED_BY(mutex_);
  std::uint64_t number_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  std::set<std::string, std::less<>> serials_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline keys
