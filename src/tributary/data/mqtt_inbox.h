#pragma once

#include <deque>
#include <optional>

#include "tributary/data/record.h"
#include "tributary/data/spool.h"
#include "tributary/data/stream.h"

namespace tributary::inline data {

// What becomes of the messages of an MQTT topic: numbered, duplicates dropped, gaps counted, kept in the spool until they
// are committed. Knows nothing of connections. For one thread; the stream guards it.
class MqttInbox {
 public:
  // Without a spool samples are kept in memory alone.
  MqttInbox(std::optional<SampleFormat> format, std::optional<Spool> spool);

  // A message, whatever its bytes are.
  void Receive(ByteSpan message);

  // Whether there is no room for another message: the disk is full, or too much lies in memory. What was received before
  // that is held all the same. Tries the disk again.
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
  std::deque<StreamSample> memory_;  // Without a spool.
  std::deque<SpoolEntry>
      unspooled_;  // Came when the disk was full; in this process alone until it is written.
  Bytes memory_bytes_{0};
  std::int64_t last_;  // The newest number seen; −1 before the first.
  std::int64_t wanted_ = 0;
  StreamCounts counts_;
  std::string why_full_;
};

}  // namespace tributary::inline data
