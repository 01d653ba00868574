#include "tributary/data/mqtt_client.h"

#include <cerrno>
#include <cstring>
#include <mutex>

#include "tributary/base/names.h"

namespace tributary::mqtt {

StatusOr<Client> MakeClient(const std::string& name, bool clean_session, const BrokerSettings& settings,
                            void* owner) {
  static std::once_flag started;
  std::call_once(started, [] { mosquitto_lib_init(); });
  Client client(mosquitto_new(name.empty() ? nullptr : name.c_str(), clean_session, owner));
  if (!client)
    return InvalidArgument("MQTT's library does not take the name '" + name + "': " + std::strerror(errno));
  std::string user, password;
  for (const auto& [key, value] : settings) {
    if (key == "username") {
      user = value;
    } else if (key == "password") {
      password = value;
    } else if (key == "cafile") {
      const int code = mosquitto_tls_set(client.get(), value.c_str(), nullptr, nullptr, nullptr, nullptr);
      if (code != MOSQ_ERR_SUCCESS) return InvalidArgument("cafile=" + value + ": " + ReasonOf(code));
    } else {
      return UnknownName("setting of an MQTT broker", key,
                         std::vector<std::string>{"username", "password", "cafile"});
    }
  }
  if (!user.empty()) {
    const int code =
        mosquitto_username_pw_set(client.get(), user.c_str(), password.empty() ? nullptr : password.c_str());
    if (code != MOSQ_ERR_SUCCESS) return InvalidArgument("username=" + user + ": " + ReasonOf(code));
  }
  return client;
}

std::string ReasonOf(int code) {
  if (code == MOSQ_ERR_ERRNO && errno != 0) return std::strerror(errno);
  return mosquitto_strerror(code);
}

}  // namespace tributary::mqtt
