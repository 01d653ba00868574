#include "tributary/data/mqtt_stream.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tributary/data/mqtt_client.h"
#include "tributary/data/mqtt_inbox.h"
#include "tributary/data/stream_status.h"

namespace tributary {
namespace {

using namespace std::chrono_literals;

constexpr int kLoopMs = 50;  // How soon the network thread sees that it should stop.
constexpr auto kRetryDisk = 200ms;
constexpr auto kFirstBackoff = 100ms;
constexpr auto kLongestBackoff = 2s;

// One thread of its own talks to the broker: it has to be answered also while the device computes.
class MqttStream : public Stream {
 public:
  MqttStream(const BrokerStreamOptions& options, std::optional<Spool> spool)
      : options_(options),
        address_(FormatBrokerAddress(options.address)),
        status_("topic " + options.topic, {StreamPhase::kWaiting, "connecting to " + address_}),
        inbox_(options.format, std::move(spool)) {}
  ~MqttStream() override { Close(); }

  Status Open() {
    const bool keeps = !options_.spool.empty();
    const std::string name = !options_.reader.empty() ? options_.reader
                             : keeps                  ? "tributary-" + options_.topic
                                                      : "";
    TRIBUTARY_ASSIGN_OR_RETURN(client_,
                               mqtt::MakeClient(name, /*clean_session=*/!keeps, options_.settings, this));
    // Makes the library leave its answers to the loop. So a message is confirmed after its callback, which has written
    // it to the spool, has returned.
    mosquitto_threaded_set(client_.get(), true);
    mosquitto_connect_callback_set(client_.get(), [](mosquitto*, void* self, int code) {
      static_cast<MqttStream*>(self)->OnConnect(code);
    });
    mosquitto_subscribe_callback_set(
        client_.get(), [](mosquitto*, void* self, int, int count, const int* granted) {
          static_cast<MqttStream*>(self)->OnSubscribe(count > 0 ? granted[0] : 128);
        });
    mosquitto_message_callback_set(
        client_.get(), [](mosquitto*, void* self, const mosquitto_message* message) {
          static_cast<MqttStream*>(self)->OnMessage({static_cast<const std::byte*>(message->payload),
                                                     static_cast<std::size_t>(message->payloadlen)});
        });
    thread_ = std::thread([this] { Run(); });
    return OkStatus();
  }

  void Poll(TimePoint, const PollLimits& limits, std::vector<StreamSample>& out) override {
    std::unique_lock lock(mutex_);
    if (limits.wait > Duration(0)) {
      changed_.wait_for(lock, limits.wait, [&] { return stop_ || inbox_.HasUnread(); });
    }
    if (!stop_) inbox_.Poll(limits, out);
  }

  Status Seek(std::int64_t position) override {
    if (position < 0)
      return InvalidArgument("numbers of samples count from 0, asked for " + std::to_string(position));
    const std::lock_guard lock(mutex_);
    inbox_.Seek(position);
    return OkStatus();
  }

  void Commit(std::int64_t position) override {
    const std::lock_guard lock(mutex_);
    inbox_.Commit(position);
  }

  StreamState state() const override { return status_.state(); }
  std::optional<std::string> TakeNews() override { return status_.TakeNews(); }
  StreamCounts counts() const override {
    const std::lock_guard lock(mutex_);
    return inbox_.counts();
  }

  void Close() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    status_.Set(StreamPhase::kStopped, "closed");
  }

 private:
  void Run() {
    auto backoff = Duration(kFirstBackoff);
    int code = mosquitto_connect_async(client_.get(), options_.address.host.c_str(), options_.address.port,
                                       mqtt::kKeepAliveSeconds);
    while (!stop_) {
      if (code == MOSQ_ERR_SUCCESS && WaitForRoom()) code = mosquitto_loop(client_.get(), kLoopMs, 1);
      if (code == MOSQ_ERR_SUCCESS) {
        if (answered_) backoff = kFirstBackoff;
        continue;
      }
      if (stop_) break;
      answered_ = false;
      status_.Set(StreamPhase::kWaiting,
                  "cannot reach " + address_ + ", trying again: " + mqtt::ReasonOf(code));
      Sleep(backoff);
      backoff = std::min<Duration>(2 * backoff, kLongestBackoff);
      code = mosquitto_reconnect_async(client_.get());
    }
    // What has been received is confirmed before leaving.
    for (int i = 0; i < 100 && mosquitto_want_write(client_.get()); ++i) {
      if (mosquitto_loop_write(client_.get(), 1) != MOSQ_ERR_SUCCESS) break;
    }
    mosquitto_disconnect(client_.get());
    mosquitto_loop_write(client_.get(), 1);
  }

  // While there is none nothing is read or confirmed, so that the broker keeps what comes. True if there is.
  bool WaitForRoom() {
    std::unique_lock lock(mutex_);
    if (!inbox_.full()) {
      if (was_full_) status_.Set(StreamPhase::kConnected, "takes samples again");
      was_full_ = false;
      return true;
    }
    was_full_ = true;
    status_.Set(StreamPhase::kWaiting, "takes no more samples until there is room: " + inbox_.why_full());
    changed_.wait_for(lock, kRetryDisk, [&] { return stop_.load(); });
    return false;
  }

  void Sleep(Duration time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return stop_.load(); });
  }

  void OnConnect(int code) {
    if (code == 4 || code == 5) {
      status_.Set(StreamPhase::kStopped,
                  address_ + " refuses this reader: " + mosquitto_connack_string(code));
      stop_ = true;
      return;
    }
    if (code != 0) return;
    answered_ = true;
    mosquitto_subscribe(client_.get(), nullptr, options_.topic.c_str(), 1);
  }

  void OnSubscribe(int granted) {
    if (granted == 1) {
      status_.Set(StreamPhase::kConnected, "connected to " + address_);
    } else {
      status_.Set(StreamPhase::kStopped, address_ + " does not let this reader subscribe");
      stop_ = true;
    }
  }

  void OnMessage(ByteSpan bytes) {
    {
      const std::lock_guard lock(mutex_);
      inbox_.Receive(bytes);
    }
    changed_.notify_all();
  }

  const BrokerStreamOptions options_;
  const std::string address_;
  StreamStatus status_;
  mqtt::Client client_;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  bool answered_ = false;  // Of the network thread, as is the next.
  bool was_full_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  MqttInbox inbox_;  // Guarded by mutex_.
};

}  // namespace

StatusOr<std::unique_ptr<Stream>> OpenMqttStream(const BrokerStreamOptions& options) {
  std::optional<Spool> spool;
  if (!options.spool.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(spool, Spool::Open({.folder = options.spool, .limit = options.spool_limit}));
  }
  auto stream = std::make_unique<MqttStream>(options, std::move(spool));
  TRIBUTARY_RETURN_IF_ERROR(stream->Open());
  return std::unique_ptr<Stream>(std::move(stream));
}

}  // namespace tributary
