#include <mosquitto.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <thread>
#include <unordered_set>

#include "tributary/base/mutex.h"
#include "tributary/data/broker.h"
#include "tributary/data/mqtt_inbox.h"
#include "tributary/data/stream.h"

namespace tributary::inline data {
namespace {

using namespace std::chrono_literals;

struct DestroyMosquitto {
  void operator()(mosquitto* client) const { mosquitto_destroy(client); }
};
using MqttClient = std::unique_ptr<mosquitto, DestroyMosquitto>;

// The connection is probed after this time without traffic, and considered broken after half as much again.
constexpr int kKeepAliveSeconds = 15;
constexpr auto kPatience = 10s;
constexpr std::size_t kMostUnderWay = 1000;

// The library's error text, or the system's if the library refers to errno.
std::string ReasonOf(int code) {
  if (code == MOSQ_ERR_ERRNO && errno != 0) return std::strerror(errno);
  return mosquitto_strerror(code);
}

// An unconnected client; callbacks receive `owner`. With an empty name the broker chooses one.
StatusOr<MqttClient> MakeMqttClient(const std::string& name, bool clean_session,
                                    const BrokerSettings& settings, void* owner) {
  static std::once_flag started;
  std::call_once(started, [] { mosquitto_lib_init(); });
  MqttClient client(mosquitto_new(name.empty() ? nullptr : name.c_str(), clean_session, owner));
  if (!client)
    return InvalidArgument("MQTT's library does not take the name '" + name + "': " + std::strerror(errno));
  const std::map<std::string, std::string> given(settings.begin(), settings.end());
  const auto text = [&](const char* key) {
    const auto found = given.find(key);
    return found == given.end() || found->second.empty() ? nullptr : found->second.c_str();
  };
  if (const char* const authority = text("cafile")) {
    const int code = mosquitto_tls_set(client.get(), authority, /*capath=*/nullptr, text("certfile"),
                                       text("keyfile"), /*pw_callback=*/nullptr);
    if (code != MOSQ_ERR_SUCCESS) {
      return InvalidArgument("MQTT's library does not take cafile=" + std::string(authority) +
                             ", or certfile and keyfile: " + ReasonOf(code));
    }
  }
  if (const char* const user = text("username")) {
    const int code = mosquitto_username_pw_set(client.get(), user, text("password"));
    if (code != MOSQ_ERR_SUCCESS)
      return InvalidArgument("username=" + std::string(user) + ": " + ReasonOf(code));
  }
  return client;
}

class MqttPublisher : public Publisher {
 public:
  explicit MqttPublisher(const BrokerAddress& address)
      : where_(address),
        address_(FormatBrokerAddress(address)),
        status_(address_, {StreamPhase::kConnected, "connected"}) {}
  ~MqttPublisher() override {
    if (!started_) return;
    mosquitto_disconnect(client_.get());
    mosquitto_loop_stop(client_.get(), /*force=*/false);
  }

  Status Open(const BrokerSettings& settings) {
    TRIBUTARY_ASSIGN_OR_RETURN(client_, MakeMqttClient("", /*clean_session=*/true, settings, this));
    mosquitto_connect_callback_set(client_.get(), [](mosquitto*, void* self, int code) {
      static_cast<MqttPublisher*>(self)->OnConnect(code);
    });
    mosquitto_disconnect_callback_set(client_.get(), [](mosquitto*, void* self, int code) {
      static_cast<MqttPublisher*>(self)->OnDisconnect(code);
    });
    mosquitto_publish_callback_set(client_.get(), [](mosquitto*, void* self, int number) {
      static_cast<MqttPublisher*>(self)->OnConfirmed(number);
    });
    mosquitto_reconnect_delay_set(client_.get(), 1, 2, false);
    mosquitto_max_inflight_messages_set(client_.get(), 100);
    return OkStatus();
  }

  // MQTT topics need no creation, so this only waits for the connection.
  Status Prepare(std::span<const std::string>) override {
    const int code = mosquitto_connect(client_.get(), where_.host.c_str(), where_.port, kKeepAliveSeconds);
    if (code != MOSQ_ERR_SUCCESS)
      return Unavailable("cannot reach " + address_ + ": " + ReasonOf(code) + "; is the broker there?");
    started_ = mosquitto_loop_start(client_.get()) == MOSQ_ERR_SUCCESS;
    MutexLock lock(mutex_);
    const WaitDeadline deadline = DeadlineIn(kPatience);
    while (!connected_ && refusal_.empty() && changed_.WaitUntil(lock, deadline)) {
    }
    if (connected_) return OkStatus();
    return Unavailable(address_ +
                       (refusal_.empty() ? " does not answer as an MQTT broker" : " refuses: " + refusal_));
  }

  StatusOr<bool> Publish(const std::string& topic, ByteSpan record) override {
    const MutexLock lock(mutex_);
    if (!connected_ || under_way_.size() >= kMostUnderWay) return false;
    int number = 0;
    const int code = mosquitto_publish(client_.get(), &number, topic.c_str(), static_cast<int>(record.size()),
                                       record.data(), /*qos=*/1, /*retain=*/false);
    // The library may have queued it. Then it is sent twice, and readers drop the duplicate.
    if (code == MOSQ_ERR_NO_CONN || code == MOSQ_ERR_CONN_LOST) return false;
    if (code != MOSQ_ERR_SUCCESS) return IoError("cannot publish to '" + topic + "': " + ReasonOf(code));
    under_way_.insert(number);
    return true;
  }

  StatusOr<bool> Flush(Duration patience) override {
    MutexLock lock(mutex_);
    const WaitDeadline deadline = DeadlineIn(patience);
    while (!under_way_.empty() && changed_.WaitUntil(lock, deadline)) {
    }
    return under_way_.empty();
  }

  std::int64_t confirmed() const override {
    const MutexLock lock(mutex_);
    return confirmed_;
  }
  std::optional<std::string> TakeNews() override { return status_.TakeNews(); }

 private:
  void OnConnect(int code) {
    const MutexLock lock(mutex_);
    connected_ = code == 0;
    if (code != 0) refusal_ = mosquitto_connack_string(code);
    if (connected_) status_.Set(StreamPhase::kConnected, "there again");
    changed_.NotifyAll();
  }
  void OnDisconnect(int code) {
    const MutexLock lock(mutex_);
    connected_ = false;
    if (code != 0) status_.Set(StreamPhase::kWaiting, "out of reach, trying again: " + ReasonOf(code));
  }
  void OnConfirmed(int number) {
    const MutexLock lock(mutex_);
    confirmed_ += static_cast<std::int64_t>(under_way_.erase(number));
    changed_.NotifyAll();
  }

  const BrokerAddress where_;
  const std::string address_;
  StreamStatus status_;
  MqttClient client_;
  bool started_ = false;
  mutable Mutex mutex_;
  Condition changed_;
  bool connected_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  std::string refusal_ TRIBUTARY_GUARDED_BY(mutex_);
  std::unordered_set<int> under_way_ TRIBUTARY_GUARDED_BY(mutex_);  // message ids of the library
  std::int64_t confirmed_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
};

}  // namespace

StatusOr<std::unique_ptr<Publisher>> OpenMqttPublisher(const BrokerAddress& address,
                                                       const BrokerSettings& settings) {
  auto publisher = std::make_unique<MqttPublisher>(address);
  TRIBUTARY_RETURN_IF_ERROR(publisher->Open(settings));
  return std::unique_ptr<Publisher>(std::move(publisher));
}

namespace {

constexpr int kLoopMs = 50;  // delay until the network thread notices stop_
constexpr auto kRetryDisk = 200ms;
constexpr auto kFirstBackoff = 100ms;
constexpr auto kLongestBackoff = 2s;

// A separate thread communicates with the broker, which needs answers also while the device computes.
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
                               MakeMqttClient(name, /*clean_session=*/!keeps, options_.settings, this));
    // Makes the library send its answers in the loop. So a message is confirmed only after its callback,
    // which writes it to the spool, has returned.
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
    MutexLock lock(mutex_);
    if (limits.wait > Duration(0)) {
      const WaitDeadline deadline = DeadlineIn(limits.wait);
      while (!stop_ && !inbox_.HasUnread() && changed_.WaitUntil(lock, deadline)) {
      }
    }
    if (!stop_) inbox_.Poll(limits, out);
  }

  Status Seek(std::int64_t position) override {
    if (position < 0)
      return InvalidArgument("numbers of samples count from 0, asked for " + std::to_string(position));
    const MutexLock lock(mutex_);
    inbox_.Seek(position);
    return OkStatus();
  }

  void Commit(std::int64_t position) override {
    const MutexLock lock(mutex_);
    inbox_.Commit(position);
  }

  StreamState state() const override { return status_.state(); }
  std::optional<std::string> TakeNews() override { return status_.TakeNews(); }
  StreamCounts counts() const override {
    const MutexLock lock(mutex_);
    return inbox_.counts();
  }

  void Close() override {
    {
      const MutexLock lock(mutex_);
      stop_ = true;
    }
    changed_.NotifyAll();
    if (thread_.joinable()) thread_.join();
    status_.Set(StreamPhase::kStopped, "closed");
  }

 private:
  void Run() {
    auto backoff = Duration(kFirstBackoff);
    int code = mosquitto_connect_async(client_.get(), options_.address.host.c_str(), options_.address.port,
                                       kKeepAliveSeconds);
    while (!stop_) {
      if (code == MOSQ_ERR_SUCCESS && WaitForRoom()) code = mosquitto_loop(client_.get(), kLoopMs, 1);
      if (code == MOSQ_ERR_SUCCESS) {
        if (answered_) backoff = kFirstBackoff;
        continue;
      }
      if (stop_) break;
      answered_ = false;
      status_.Set(StreamPhase::kWaiting, "cannot reach " + address_ + ", trying again: " + ReasonOf(code));
      Sleep(backoff);
      backoff = std::min<Duration>(2 * backoff, kLongestBackoff);
      code = mosquitto_reconnect_async(client_.get());
    }
    // Confirm received messages before leaving.
    for (int i = 0; i < 100 && mosquitto_want_write(client_.get()); ++i) {
      if (mosquitto_loop_write(client_.get(), 1) != MOSQ_ERR_SUCCESS) break;
    }
    mosquitto_disconnect(client_.get());
    mosquitto_loop_write(client_.get(), 1);
  }

  // True if there is room. Otherwise nothing is read or confirmed, so that the broker keeps new messages.
  bool WaitForRoom() {
    MutexLock lock(mutex_);
    if (!inbox_.full()) {
      if (was_full_) status_.Set(StreamPhase::kConnected, "takes samples again");
      was_full_ = false;
      return true;
    }
    was_full_ = true;
    status_.Set(StreamPhase::kWaiting, "takes no more samples until there is room: " + inbox_.why_full());
    SleepWith(lock, kRetryDisk);
    return false;
  }

  // Returns after `time`, or when stop_ is set.
  void Sleep(Duration time) {
    MutexLock lock(mutex_);
    SleepWith(lock, time);
  }
  void SleepWith(MutexLock& lock, Duration time) TRIBUTARY_REQUIRES(mutex_) {
    const WaitDeadline deadline = DeadlineIn(time);
    while (!stop_ && changed_.WaitUntil(lock, deadline)) {
    }
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
      const MutexLock lock(mutex_);
      inbox_.Receive(bytes);
    }
    changed_.NotifyAll();
  }

  const BrokerStreamOptions options_;
  const std::string address_;
  StreamStatus status_;
  MqttClient client_;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  bool answered_ = false;  // These two belong to the network thread.
  bool was_full_ = false;
  mutable Mutex mutex_;
  Condition changed_;
  MqttInbox inbox_ TRIBUTARY_GUARDED_BY(mutex_);
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

}  // namespace tributary::inline data
