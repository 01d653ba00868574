#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tributary::inline rpc {

// How many bytes have come over a connection that belong to none of the program's messages: handshakes, headers,
// and frames that only HTTP/2 reads. A leaky bucket. The share of such bytes in honest traffic, and the
// acknowledgements of what is sent to the peer, do not count.
class ExcessBytes {
 public:
  // Since the connection began, or of the time since the last update.
  struct Counts {
    std::int64_t received = 0;  // from the network
    std::int64_t sent = 0;      // to the network
    std::int64_t taken = 0;     // by the program, as messages
  };

  void Update(const Counts& now, std::chrono::duration<double> since_last) {
    const std::int64_t received = now.received - last_.received, sent = now.sent - last_.sent;
    const std::int64_t taken = now.taken - last_.taken;
    last_ = now;
    bytes_ += received - taken - taken / kTakenPerOverhead - sent / kSentPerAnswer;
    Leak(since_last);
  }
  // Forgets what may have come in this time; returns what is left.
  std::int64_t Leak(std::chrono::duration<double> since_last) {
    const auto leaked = static_cast<std::int64_t>(kLeakPerSecond * since_last.count());
    return bytes_ = std::max<std::int64_t>(bytes_ - leaked, 0);
  }
  void Add(std::int64_t bytes) { bytes_ += bytes; }
  std::int64_t bytes() const { return bytes_; }

 private:
  static constexpr double kLeakPerSecond = 4096;         // pings and their answers take about 30
  static constexpr std::int64_t kTakenPerOverhead = 64;  // TLS and HTTP/2 take about one byte in 260
  static constexpr std::int64_t kSentPerAnswer = 128;    // window updates take about one byte in 270

  Counts last_;
  std::int64_t bytes_ = 0;
};

}  // namespace tributary::inline rpc
