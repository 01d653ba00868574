#pragma once

#include <string>

#include "tributary/base/status.h"

namespace tributary::inline protocol {

// The coordinator's end of a device's connection, as seen by the Exchange, whatever carries the bytes. Called from any
// thread, never while the Exchange holds its lock.
class Connection {
 public:
  virtual ~Connection() = default;
  // There is something to send: ask Exchange::Next soon.
  virtual void Wake() = 0;
  // Ends it, with a reason that the peer is told (none if it is OK). The carrier answers with Exchange::Closed once it
  // is over, as it does when a connection breaks by itself.
  virtual void Close(const Status& reason) = 0;
  // Whether the peer may still be here; its certificate may have been revoked since it came.
  virtual Status StillAdmitted() const { return OkStatus(); }
  // The serial number of the certificate that the peer has shown; empty without TLS.
  virtual std::string certificate() const { return {}; }
};

}  // namespace tributary::inline protocol
