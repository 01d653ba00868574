#pragma once

#include <deque>
#include <optional>

#include "tributary/data/record.h"
#include "tributary/data/spool.h"
#include "tributary/data/stream.h"

namespace tributary::inline data {

// Processes the messages of an MQTT topic: numbers them, drops duplicates, counts gaps and keeps samples in
// the spool until they are committed. Independent of connections. Not thread-safe; the stream guards it.
class MqttInbox {
 public:
  // Without a spool, samples are only kept in memory.
  MqttInbox(std::optional<SampleFormat> format, std::optional<Spool> spool);

  // Safe on arbitrary bytes.
  void Receive(ByteSpan message);

  // Whether there is no room for another message: the disk is full, or too much is in memory. Messages
  // received before that are kept. Tries the disk again.
  bool full();
  const std::string& why_full() const { return why_full_; }

  void Poll(const PollLimits& limits, std::vector<StreamSample>& out);
  void Seek(std::int64_t position);
  void Commit(std::int64_t position);

  bool HasUnread() const;
  const StreamCounts& counts() const { return counts_; }

 private:
  std::optional<StreamSample> Next();

  const std::optional<SampleFormat> format_;
  std::optional<Spool> spool_;
  std::deque<StreamSample> memory_;   // without a spool
  std::deque<SpoolEntry> unspooled_;  // received while the disk was full, not written yet
  Bytes memory_bytes_{0};
  std::int64_t last_;  // The newest number seen; −1 before the first.
  std::int64_t wanted_ = 0;
  StreamCounts counts_;
  std::string why_full_;
};

}  // namespace tributary::inline data
