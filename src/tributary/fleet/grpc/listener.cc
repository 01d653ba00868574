#include "tributary/fleet/grpc/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/tcp.h>  // instead of netinet/tcp.h, which does not count bytes
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tributary/base/log.h"

namespace tributary::inline rpc {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kForFiles = 128;           // descriptors reserved for other uses
constexpr std::size_t kMostConnections = 16384;  // each takes memory
constexpr std::size_t kMostOfName = 16;          // proven connections
constexpr int kAcceptedAtOnce = 64;
constexpr auto kBetweenLooks = std::chrono::milliseconds(20);
// The time between two inspections of all connections; they take about a hundredth of it.
constexpr auto kBetweenInspections = std::chrono::milliseconds(100);
constexpr auto kBetweenInspectionsPerConnection = std::chrono::microseconds(100);
// Enough for a handshake and what a client sends ahead of its first call's acceptance; and for the largest message on its way.
constexpr std::int64_t kMostUnprovenExcess = 512 << 10;
constexpr std::int64_t kMostExcess = 6 << 20;
constexpr auto kRefusedFor = std::chrono::seconds(60);
constexpr auto kBetweenWords = std::chrono::seconds(10);

// Number of files that the process may open, after raising the limit as far as possible.
std::size_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
}

Listener::Limits LimitsFor(std::size_t descriptors) {
  // In a round a device takes two: its connection, and a file for its update.
  const std::size_t half = descriptors > kForFiles ? (descriptors - kForFiles) / 2 : 0;
  const std::size_t connections = std::clamp<std::size_t>(half, 8, kMostConnections);
  return {connections, std::max<std::size_t>(4, connections / 2), std::max<std::size_t>(4, connections / 8)};
}

// The address as text; IPv4 addresses mapped to IPv6 in IPv4 form.
std::string HostOf(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof(text));
  } else if (address.ss_family == AF_INET6) {
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&v6)) {
      ::inet_ntop(AF_INET, v6.s6_addr + 12, text, sizeof(text));
    } else {
      ::inet_ntop(AF_INET6, &v6, text, sizeof(text));
    }
  }
  return text;
}

int PortOf(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string KeyOf(const std::string& host, const std::string& port) { return host + " " + port; }

// "ipv4:192.0.2.1:5000", "ipv6:%5B2001:db8::1%5D:5000", "ipv6:%5Bfe80::1%25eth0%5D:5000".
std::string KeyOfPeer(const std::string& peer) {
  const auto begin = peer.find(':'), end = peer.rfind(':');
  if (begin == std::string::npos || begin == end) return {};
  std::string host = peer.substr(begin + 1, end - begin - 1);
  if (host.starts_with("%5B")) host = host.substr(3, host.find('%', 3) - 3);
  if (host.starts_with("[")) host = host.substr(1, host.find_first_of("%]", 1) - 1);
  return KeyOf(host, peer.substr(end + 1));
}

struct Addresses {
  addrinfo* first = nullptr;
  ~Addresses() {
    if (first != nullptr) ::freeaddrinfo(first);
  }
};

// A listening socket, or -1. `port` is 0 until it is known.
int ListenAt(const addrinfo& where, int& port) {
  const int descriptor = ::socket(where.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  const int yes = 1, no = 0;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (where.ai_family == AF_INET6) ::setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  sockaddr_storage address{};
  std::memcpy(&address, where.ai_addr, where.ai_addrlen);
  if (port != 0) {
    (where.ai_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                 : reinterpret_cast<sockaddr_in&>(address).sin_port) =
        htons(static_cast<std::uint16_t>(port));
  }
  socklen_t length = sizeof(address);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), where.ai_addrlen) != 0 ||
      ::listen(descriptor, SOMAXCONN) != 0 ||
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    ::close(descriptor);
    return -1;
  }
  port = PortOf(address);
  return descriptor;
}

// Listens on every address of that name; for an empty name on IPv6 and IPv4, or IPv4 alone without IPv6.
std::vector<int> ListenOn(std::string host, const std::string& service, int& port) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) host = "::";
  std::vector<int> sockets;
  for (const std::string& name :
       host == "::" ? std::vector<std::string>{"::", "0.0.0.0"} : std::vector{host}) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    Addresses found;
    if (::getaddrinfo(name.c_str(), service.c_str(), &hints, &found.first) != 0) continue;
    for (const addrinfo* next = found.first; next != nullptr; next = next->ai_next) {
      if (const int descriptor = ListenAt(*next, port); descriptor >= 0) sockets.push_back(descriptor);
    }
    if (!sockets.empty()) break;
  }
  return sockets;
}

std::uint64_t InodeOf(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_ino) : 0;
}

// Whether a message that may come very often may be written, and when it was last.
bool MaySay(steady_clock::time_point& said, steady_clock::time_point now) {
  if (said != steady_clock::time_point{} && now - said < kBetweenWords) return false;
  said = now;
  return true;
}

ExcessBytes::Counts CountsOf(int descriptor, std::int64_t taken) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  ::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length);
  return {static_cast<std::int64_t>(info.tcpi_bytes_received),
          static_cast<std::int64_t>(info.tcpi_bytes_acked), taken};
}

}  // namespace

StatusOr<std::unique_ptr<Listener>> Listener::Bind(const std::string& address) {
  std::unique_ptr<Listener> listener(new Listener);
  listener->limits_ = LimitsFor(RaiseDescriptorLimit());
  const auto colon = address.rfind(':');
  if (colon != std::string::npos) {
    listener->listening_ = ListenOn(address.substr(0, colon), address.substr(colon + 1), listener->port_);
  }
  if (listener->listening_.empty() || ::pipe2(listener->wake_, O_CLOEXEC) != 0) {
    return InvalidArgument("cannot listen on " + address +
                           ": is the address one of this machine's, and does no other program listen there?");
  }
  return listener;
}

void Listener::Stop() {
  if (wake_[1] >= 0) ::close(std::exchange(wake_[1], -1));
  if (thread_.joinable()) thread_.join();
}

Listener::~Listener() {
  Stop();
  if (wake_[0] >= 0) ::close(wake_[0]);
  for (const int descriptor : listening_) ::close(descriptor);
}

void Listener::Start(std::function<void(NewConnection&)> take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { Run(); });
}

void Listener::Run() {
  std::vector<pollfd> polled = {{wake_[0], POLLIN, 0}};
  for (const int descriptor : listening_) polled.push_back({descriptor, POLLIN, 0});
  while (true) {
    ::poll(polled.data(), polled.size(), static_cast<int>(kBetweenInspections.count()));
    if (polled[0].revents != 0) return;
    for (std::size_t i = 1; i < polled.size(); ++i) {
      if ((polled[i].revents & ~POLLIN) != 0) {
        Reopen(listening_[i - 1]);
        polled[i].fd = listening_[i - 1];
      } else if (polled[i].revents != 0) {
        AcceptFrom(polled[i].fd);
      }
    }
    const MutexLock lock(mutex_);
    const auto between = std::max<steady_clock::duration>(
        kBetweenInspections, connections_.size() * kBetweenInspectionsPerConnection);
    if (steady_clock::now() - inspected_ >= between) Inspect();
  }
}

void Listener::Reopen(int& listening) {
  sockaddr_storage address{};
  addrinfo where{};
  socklen_t length = sizeof(address);
  const bool known = ::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  where.ai_family = address.ss_family;
  where.ai_addr = reinterpret_cast<sockaddr*>(&address);
  where.ai_addrlen = length;
  ::shutdown(listening, SHUT_RDWR);  // frees the port
  const int replacement = known ? ListenAt(where, port_) : -1;
  if (replacement >= 0) {
    ::dup3(replacement, listening, O_CLOEXEC);
    ::close(replacement);
    Log(LogLevel::kWarning,
        fmt::format("the socket on port {} had stopped listening; it was replaced", port_));
    return;
  }
  Log(LogLevel::kWarning,
      fmt::format("the socket on port {} has stopped listening and cannot be replaced: {}; devices "
                  "cannot connect until that succeeds",
                  port_, std::strerror(errno)));
  std::this_thread::sleep_for(std::chrono::seconds(1));
}

void Listener::AcceptFrom(int listening) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    sockaddr_storage address{};
    socklen_t length = sizeof(address);
    const int descriptor =
        ::accept4(listening, reinterpret_cast<sockaddr*>(&address), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      // Without a free descriptor or memory the connection stays in the queue and is retried.
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return;
    }
    const std::string host = HostOf(address);
    {
      const MutexLock lock(mutex_);
      if (!MayCome(host)) {
        Refuse(descriptor, host);
        continue;
      }
      const std::string key = KeyOf(host, std::to_string(PortOf(address)));
      if (const auto before = connections_.find(key); before != connections_.end()) {
        Forget(before->second);
        connections_.erase(before);
      }
      connections_.emplace(key, Connection{descriptor, InodeOf(descriptor), host});
      ++unproven_[host];
      ++unproven_in_all_;
    }
    const int yes = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    NewConnection connection;
    connection.listener_fd = listening;
    connection.fd = descriptor;
    take_(connection);
  }
}

bool Listener::MayCome(const std::string& host) {
  const auto within = [&] {
    mutex_.AssertHeld();
    const auto of_host = unproven_.find(host);
    return connections_.size() < limits_.connections && unproven_in_all_ < limits_.unproven &&
           (of_host == unproven_.end() || of_host->second < limits_.unproven_per_address);
  };
  // Ended connections count until they are looked for.
  if (!within() && steady_clock::now() - inspected_ > kBetweenLooks) Inspect();
  return within();
}

void Listener::Inspect() {
  const Time now = steady_clock::now();
  const auto since_last = now - inspected_;
  inspected_ = now;
  std::erase_if(refused_until_, [&](const auto& entry) { return entry.second <= now; });
  std::erase_if(connections_, [&](const auto& entry) {
    mutex_.AssertHeld();
    const Connection& connection = entry.second;
    if (InodeOf(connection.descriptor) == connection.inode) return false;
    // So that it does not help to dial again shortly before the limit.
    const std::int64_t left = connection.excess.bytes() - kMostUnprovenExcess;
    if (!connection.name.empty() && left > 0) excess_before_[connection.name].Add(left);
    Forget(connection);
    return true;
  });
  std::map<std::string, std::int64_t> of_name;
  for (auto& [name, excess] : excess_before_) of_name[name] = excess.Leak(since_last);
  std::erase_if(excess_before_, [](const auto& entry) { return entry.second.bytes() == 0; });
  for (auto& [key, connection] : connections_) {
    const std::int64_t taken = connection.traffic ? connection.traffic->bytes_.load() : 0;
    connection.excess.Update(CountsOf(connection.descriptor, taken), since_last);
    if (!connection.name.empty()) of_name[connection.name] += connection.excess.bytes();
  }
  std::erase_if(connections_, [&](const auto& entry) {
    mutex_.AssertHeld();
    const Connection& connection = entry.second;
    const std::int64_t excess =
        connection.name.empty() ? connection.excess.bytes() : of_name[connection.name];
    if (excess <= (connection.traffic ? kMostExcess : kMostUnprovenExcess)) return false;
    BreakOff(connection, excess);
    Forget(connection);
    return true;
  });
}

void Listener::BreakOff(const Connection& connection, std::int64_t excess) {
  // Resets it and drops what has arrived, while gRPC owns the descriptor. If gRPC has closed it since Inspect looked, and its
  // number belongs to another connection, that one is reset, and its peer dials again.
  sockaddr nowhere{};
  nowhere.sa_family = AF_UNSPEC;
  ::connect(connection.descriptor, &nowhere, sizeof(nowhere));
  const Time now = steady_clock::now();
  bool say = MaySay(said_excess_, now);
  std::string consequence;
  if (!connection.name.empty()) {
    say = !refused_until_.contains(connection.name);
    refused_until_[connection.name] = now + kRefusedFor;
    consequence = fmt::format("; '{}' is refused for a minute", connection.name);
  }
  if (say) {
    Log(LogLevel::kWarning,
        fmt::format("broke off a connection from {}: {} bytes came that belong to no message{}",
                    connection.host, excess, consequence));
  }
}

void Listener::Forget(const Connection& connection) {
  const auto subtract = [](std::map<std::string, std::size_t>& counts, const std::string& key) {
    if (const auto found = counts.find(key); found != counts.end() && --found->second == 0)
      counts.erase(found);
  };
  if (connection.traffic) return subtract(proven_, connection.name);
  --unproven_in_all_;
  subtract(unproven_, connection.host);
}

void Listener::Refuse(int descriptor, const std::string& host) {
  // Without lingering, so that closed connections take no memory.
  const linger none{1, 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
  ::close(descriptor);
  ++refused_;
  if (!MaySay(said_, steady_clock::now())) return;
  Log(LogLevel::kWarning,
      fmt::format("{} connections were closed at once, the last from {}: of {} connections, {} "
                  "are unproven (at most {}, {}, and {} of one address)",
                  refused_, host, connections_.size(), unproven_in_all_, limits_.connections,
                  limits_.unproven, limits_.unproven_per_address));
  refused_ = 0;
}

StatusOr<std::shared_ptr<Listener::Traffic>> Listener::Prove(const std::string& peer,
                                                             const std::string& name) {
  const MutexLock lock(mutex_);
  if (!name.empty() && refused_until_.contains(name)) {
    return ResourceExhausted("too many bytes came over a connection of '" + name +
                             "' that belong to no message; it is refused for a minute");
  }
  const auto found = connections_.find(KeyOfPeer(peer));
  if (found == connections_.end()) return std::make_shared<Traffic>();  // has just ended
  Connection& connection = found->second;
  if (connection.traffic) return connection.traffic;
  if (!name.empty() && proven_[name] >= kMostOfName) {
    return ResourceExhausted(fmt::format("'{}' has {} connections already", name, kMostOfName));
  }
  Forget(connection);
  connection.name = name;
  connection.traffic = std::make_shared<Traffic>();
  ++proven_[name];
  return connection.traffic;
}

}  // namespace tributary::inline rpc
