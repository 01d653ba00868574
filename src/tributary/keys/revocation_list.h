#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/file_stamp.h"
#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/base/wall_clock.h"

namespace tributary::inline keys {

// The longest text of revocation lists, which is also sent to devices: some 18,000 revoked certificates.
inline constexpr std::size_t kLongestRevocations = 1'000'000;

struct RevocationListOptions {
  WallClock wall_clock = SystemWallClock();
  std::filesystem::path newest;  // file for the newest list ever accepted; empty for none
};

// The certificates that the trusted authorities have revoked, as a running party sees them. There is one list for each
// trusted authority: one, or two while the authority is replaced.
//
// A coordinator reads the lists from revoked.pem, and again when the file changes. A device receives them from its
// coordinator: they are signed, so that it need not trust who sends them. Both keep the newest in a separate file, so
// that an older one is also refused after a restart.
//
// An expired list is not accepted. When the list in force expires, all peers are refused until there is a newer one.
//
// TLS accepts a peer whose certificate an authority signed; Check then tests whether it is revoked. Call Refresh
// before admitting a peer, and periodically to check connected peers again. Thread-safe.
class RevocationList {
 public:
  // From a file. The lists must be signed by the authorities, not expired and not older than the newest ones.
  static StatusOr<std::unique_ptr<RevocationList>> Load(const std::filesystem::path& path,
                                                        std::string_view authority_pem,
                                                        RevocationListOptions options = {});
  // From messages: Accept. Begins with the lists in the file `newest`.
  static StatusOr<std::unique_ptr<RevocationList>> Receive(std::string_view authority_pem,
                                                           RevocationListOptions options = {});

  // Fails for a revoked certificate ("the certificate of 'pi-3' has been revoked"), one that no trusted authority
  // signed, and bytes that are no certificate; for all if there is no list, or it has expired.
  Status Check(std::string_view certificate_pem) const;

  // Reads the file again if it has changed, at the cost of one stat otherwise. A file that is missing,
  // malformed, signed by another authority or older than the list in force (an attempt to undo a revocation)
  // is an error for the log; the list in force remains.
  Status Refresh();

  // Replaces lists in force; the same errors. Lists of other authorities are ignored, and an authority without one keeps
  // the list that it has.
  Status Accept(std::string_view pem);

  // The trusted authorities have changed: certificates of others fail Check from now on. A new authority needs a list,
  // by Refresh or Accept.
  Status Trust(std::string_view authority_pem);

  // The lists in force, for Accept on another machine; empty if there are none.
  std::string Text() const;

  // A warning for the log in the last 14 days of the list in force: the consequence, and the command that
  // prevents it. Else empty.
  std::string Warning() const;

 private:
  // An authority and its list. The list is in force unless `pem` is empty.
  struct Issued {
    std::string authority_pem;
    std::string pem;
    std::uint64_t number = 0;     // of the newest accepted list
    std::time_t next_update = 0;  // of the list in force
    std::set<std::string, std::less<>> serials;
  };

  enum class Use {
    kFile,     // the list of each authority is there, and is no expired or older one
    kMessage,  // the same; lists that are not there stay as they are, but not all
    kKept,     // accepted before a restart: may have expired, and an authority may have come since
    kNumbers,  // as kKept, but only to refuse older lists
  };
  explicit RevocationList(RevocationListOptions options) : options_(std::move(options)) {}
  // Errors begin with `origin`.
  Status Take(std::string_view pem, const std::string& origin, Use use) TRIBUTARY_REQUIRES(mutex_);
  Status TakeNewest(Use use) TRIBUTARY_REQUIRES(mutex_);
  Status WriteNewest() TRIBUTARY_REQUIRES(mutex_);
  Status SetTrusted(std::string_view authority_pem) TRIBUTARY_REQUIRES(mutex_);
  std::string TextLocked() const TRIBUTARY_REQUIRES(mutex_);
  std::time_t Now() const;

  std::filesystem::path path_;  // empty: from messages
  const RevocationListOptions options_;
  mutable Mutex mutex_;
  FileStamp stamp_ TRIBUTARY_GUARDED_BY(mutex_);
  std::string written_ TRIBUTARY_GUARDED_BY(mutex_);  // into options_.newest
  std::vector<Issued> trusted_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline keys
