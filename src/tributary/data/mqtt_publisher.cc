#include "tributary/data/mqtt_publisher.h"

#include <condition_variable>
#include <mutex>
#include <unordered_set>

#include "tributary/data/mqtt_client.h"
#include "tributary/data/stream_status.h"

namespace tributary {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10s;
constexpr std::size_t kMostUnderWay = 1000;

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
    TRIBUTARY_ASSIGN_OR_RETURN(client_, mqtt::MakeClient("", /*clean_session=*/true, settings, this));
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

  // Topics need no making; but somebody should listen.
  Status Prepare(std::span<const std::string>) override {
    const int code =
        mosquitto_connect(client_.get(), where_.host.c_str(), where_.port, mqtt::kKeepAliveSeconds);
    if (code != MOSQ_ERR_SUCCESS) {
      return Unavailable("cannot reach " + address_ + ": " + mqtt::ReasonOf(code) + "; is the broker there?");
    }
    started_ = mosquitto_loop_start(client_.get()) == MOSQ_ERR_SUCCESS;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return connected_ || !refusal_.empty(); });
    if (connected_) return OkStatus();
    return Unavailable(address_ +
                       (refusal_.empty() ? " does not answer as an MQTT broker" : " refuses: " + refusal_));
  }

  StatusOr<bool> Publish(const std::string& topic, ByteSpan record) override {
    const std::lock_guard lock(mutex_);
    if (!connected_ || under_way_.size() >= kMostUnderWay) return false;
    int number = 0;
    const int code = mosquitto_publish(client_.get(), &number, topic.c_str(), static_cast<int>(record.size()),
                                       record.data(), /*qos=*/1, /*retain=*/false);
    // Whether the library has kept it is not known. If so it is sent twice, which readers know how to bear.
    if (code == MOSQ_ERR_NO_CONN || code == MOSQ_ERR_CONN_LOST) return false;
    if (code != MOSQ_ERR_SUCCESS)
      return IoError("cannot publish to '" + topic + "': " + mqtt::ReasonOf(code));
    under_way_.insert(number);
    return true;
  }

  StatusOr<bool> Flush(Duration patience) override {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return under_way_.empty(); });
  }

  std::int64_t confirmed() const override {
    const std::lock_guard lock(mutex_);
    return confirmed_;
  }
  std::optional<std::string> TakeNews() override { return status_.TakeNews(); }

 private:
  void OnConnect(int code) {
    const std::lock_guard lock(mutex_);
    connected_ = code == 0;
    if (code != 0) refusal_ = mosquitto_connack_string(code);
    if (connected_) status_.Set(StreamPhase::kConnected, "there again");
    changed_.notify_all();
  }
  void OnDisconnect(int code) {
    const std::lock_guard lock(mutex_);
    connected_ = false;
    if (code != 0) status_.Set(StreamPhase::kWaiting, "out of reach, trying again: " + mqtt::ReasonOf(code));
  }
  void OnConfirmed(int number) {
    const std::lock_guard lock(mutex_);
    confirmed_ += static_cast<std::int64_t>(under_way_.erase(number));
    changed_.notify_all();
  }

  const BrokerAddress where_;
  const std::string address_;
  StreamStatus status_;
  mqtt::Client client_;
  bool started_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool connected_ = false;  // Guarded by mutex_, and what follows, too.
  std::string refusal_;
  std::unordered_set<int> under_way_;  // Their numbers in the library.
  std::int64_t confirmed_ = 0;
};

}  // namespace

StatusOr<std::unique_ptr<Publisher>> OpenMqttPublisher(const BrokerAddress& address,
                                                       const BrokerSettings& settings) {
  auto publisher = std::make_unique<MqttPublisher>(address);
  TRIBUTARY_RETURN_IF_ERROR(publisher->Open(settings));
  return std::unique_ptr<Publisher>(std::move(publisher));
}

}  // namespace tributary
