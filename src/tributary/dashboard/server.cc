#include "tributary/dashboard/server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <pthread.h>

#include <atomic>
#include <charconv>
#include <random>
#include <thread>

#include "tributary/base/loopback.h"
#include "tributary/base/mutex.h"
#include "tributary/dashboard/report.h"

namespace tributary::inline dashboard {
namespace {

constexpr int kThreads = DashboardServer::kMostPages + 8;
constexpr std::size_t kMostWaiting = 16;  // connections not served yet
constexpr Duration kAlive = std::chrono::seconds(1), kLook = std::chrono::milliseconds(500);

// Inline scripts and styles are the page's own; it fetches only from this server.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src "
    "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct Place {
  std::string host;
  int port = 0;
};

StatusOr<Place> ReadPlace(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  Place place;
  if (colon != std::string::npos) {
    place.host = address.substr(0, colon);
    const char* const end = address.data() + address.size();
    const auto read = std::from_chars(address.data() + colon + 1, end, place.port);
    if (read.ec == std::errc() && read.ptr == end && place.port >= 0 && place.port <= 65535) {
      if (place.host.size() > 2 && place.host.front() == '[' && place.host.back() == ']') {
        place.host = place.host.substr(1, place.host.size() - 2);
      }
      if (place.host.empty()) place.host = "0.0.0.0";
      return place;
    }
  }
  return InvalidArgument(fmt::format(
      "--dashboard '{}' is not an address; allowed: HOST:PORT, e.g. 127.0.0.1:8080 or :8080", address));
}

// The host in a Host header: "HOST[:PORT]" or "[HOST]:PORT".
std::string_view HostOfHeader(std::string_view header) {
  if (header.starts_with('[')) return header.substr(1, header.find(']') - 1);
  return header.substr(0, header.find(':'));
}

// Constant time, independent of the first difference.
bool SameText(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |=
        static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  }
  return difference == 0;
}

// Uncompressed. httplib compresses responses without a provider for every browser, with Brotli's slowest
// setting: more than a second of processor time for a board of a thousand devices.
void Send(httplib::Response& response, std::string text, const char* type) {
  const auto held = std::make_shared<const std::string>(std::move(text));
  response.set_content_provider(held->size(), type,
                                [held](std::size_t from, std::size_t length, httplib::DataSink& sink) {
                                  return sink.write(held->data() + from, length);
                                });
}

void Refuse(httplib::Response& response, int status, const char* why) {
  response.status = status;
  response.set_content(why, "text/plain");
}

#ifdef TRIBUTARY_DASHBOARD_TLS
// The certificate that the client has shown and the authority has signed, as PEM; empty if there is none.
std::string CertificateOf(const httplib::Request& request) {
  const std::unique_ptr<X509, decltype(&X509_free)> shown(
      request.ssl == nullptr ? nullptr : SSL_get1_peer_certificate(request.ssl), X509_free);
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(BIO_new(BIO_s_mem()), BIO_free_all);
  if (!shown || !bio || SSL_get_verify_result(request.ssl) != X509_V_OK ||
      PEM_write_bio_X509(bio.get(), shown.get()) != 1) {
    return "";
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

bool SetUp(SSL_CTX& context, const DashboardTls& tls) {
  // A client may show a certificate; one that does not fit ends the connection.
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
  constexpr unsigned char kSession[] = "dashboard";  // required with SSL_VERIFY_PEER to resume sessions
  return SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_session_id_context(&context, kSession, sizeof(kSession) - 1) == 1 &&
         SSL_CTX_use_certificate_chain_file(&context, tls.certificate.c_str()) == 1 &&
         SSL_CTX_use_PrivateKey_file(&context, tls.key.c_str(), SSL_FILETYPE_PEM) == 1 &&
         SSL_CTX_load_verify_locations(&context, tls.authority.c_str(), nullptr) == 1;
}

std::unique_ptr<httplib::Server> MakeServer(const std::optional<DashboardTls>& tls) {
  if (!tls) return std::make_unique<httplib::Server>();
  return std::make_unique<httplib::SSLServer>([&](SSL_CTX& context) { return SetUp(context, *tls); });
}
#else
std::string CertificateOf(const httplib::Request&) { return ""; }
std::unique_ptr<httplib::Server> MakeServer(const std::optional<DashboardTls>& tls) {
  return tls ? nullptr : std::make_unique<httplib::Server>();
}
#endif

// Whether this thread is the one that accepts connections, which must not block.
thread_local bool accepting = false;

// Like httplib's, with a bound on waiting tasks.
class BoundedQueue : public httplib::TaskQueue {
 public:
  BoundedQueue() : pool_(kThreads) {}
  void enqueue(std::function<void()> task) override {
    if (waiting_.fetch_add(1) >= static_cast<int>(kMostWaiting) + kThreads) {
      // Refused on the accepting thread; meanwhile further connections wait in the system's backlog.
      waiting_.fetch_sub(1);
      accepting = true;
      task();
      accepting = false;
      return;
    }
    pool_.enqueue([this, task = std::move(task)] {
      ::pthread_setname_np(::pthread_self(), "dashboard");  // to separate its cost from the run's
      task();
      waiting_.fetch_sub(1);
    });
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  httplib::ThreadPool pool_;
  std::atomic<int> waiting_{0};
};

}  // namespace

struct DashboardServer::Parts {
  SharedBoard& board;
  DashboardOptions options;
  const std::string host;  // to listen on
  std::string url;
  const std::unique_ptr<httplib::Server> owned;
  httplib::Server& server = *owned;
  std::atomic<int> pages{0};
  std::unique_ptr<Clock> clock = MakeRealClock();
  Broadcast broadcast{board, *clock};
  Mutex looking;
  TimePoint looked TRIBUTARY_GUARDED_BY(looking){-kLook};
  std::thread thread;

  Parts(SharedBoard& shared, DashboardOptions wanted, std::string listens_on)
      : board(shared),
        options(std::move(wanted)),
        host(std::move(listens_on)),
        owned(MakeServer(options.tls)) {}

  // Refreshes the device states, at most twice a second.
  void Look() {
    if (!options.states) return;
    {
      const MutexLock lock(looking);
      if (clock->Now() - looked < kLook) return;
      looked = clock->Now();
    }
    board.SetStates(options.states());
  }

  // Beyond loopback, the valid names of this machine are unknown; only the token protects the page.
  bool IsForHere(const httplib::Request& request) const {
    const std::string header = request.get_header_value("Host");
    const std::string_view asked = HostOfHeader(header);
    // With TLS a foreign page has another name than the certificate.
    return !IsLoopback(host) || asked == host || IsLoopback(asked) || options.tls;
  }

  bool Knows(const httplib::Request& request) const {
    if (options.token.empty()) return true;
    if (options.tls) {
      const std::string certificate = CertificateOf(request);
      if (!certificate.empty() && options.tls->may_watch(certificate).ok()) return true;
    }
    const std::string bearer = request.get_header_value("Authorization");
    constexpr std::string_view kBearer = "Bearer ";
    if (bearer.starts_with(kBearer))
      return SameText(std::string_view(bearer).substr(kBearer.size()), options.token);
    return SameText(request.get_param_value("token"), options.token);
  }

  void Follow(httplib::Response& response) {
    if (pages.fetch_add(1) >= kMostPages) {
      pages.fetch_sub(1);
      return Refuse(response, 503, "the maximum number of pages follows this run\n");
    }
    const auto heard = std::make_shared<std::uint64_t>(0);
    const auto last = std::make_shared<TimePoint>(clock->Now());
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, heard, last](std::size_t, httplib::DataSink& sink) {
          Look();
          const bool closed = board.closed();  // read first, so that everything written before it is sent
          const std::uint64_t version = board.version();
          std::string text = broadcast.Next(*heard);
          if (text.empty() && clock->Now() - *last >= kAlive) text = ": alive\n\n";
          if (!text.empty()) {
            *last = clock->Now();
            if (!sink.write(text.data(), text.size())) return false;
          }
          if (closed) {
            sink.done();
            return true;
          }
          if (!sink.is_writable()) return false;
          board.WaitForChange(version, options.states ? kLook : EventStream::kDevicesEvery);
          // Many events are sent together.
          std::this_thread::sleep_for(EventStream::kNowEvery / 2);
          return true;
        },
        [this](bool) { pages.fetch_sub(1); });
  }

  void Route() {
    server.new_task_queue = [] { return new BoundedQueue(); };
    server.set_payload_max_length(1024);
    server.set_read_timeout(2, 0);
    server.set_write_timeout(2, 0);
    // A connection that stays open after a response would delay the end of the run.
    server.set_keep_alive_max_count(1);
    server.set_tcp_nodelay(true);
    // Replaces httplib's default, with which two programs can listen at one address.
    server.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server.set_default_headers({{"Content-Security-Policy", kPolicy},
                                {"X-Content-Type-Options", "nosniff"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cache-Control", "no-store"}});
    server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (accepting) {
        response.set_header("Connection", "close");
        Refuse(response, 503, "too many concurrent requests\n");
      } else if (request.method != "GET" && request.method != "HEAD") {
        Refuse(response, 405, "only GET\n");
      } else if (!IsForHere(request)) {
        Refuse(response, 421,
               "this run is shown at localhost only: open the address that the program printed\n");
      } else if (request.path == "/" || Knows(request)) {
        // The page itself contains no run data; it requests them with the token from its address.
        return httplib::Server::HandlerResponse::Unhandled;
      } else {
        Refuse(response, 401, "This run needs a token: open the address that the program printed.\n");
      }
      return httplib::Server::HandlerResponse::Handled;
    });
    server.Get("/", [](const httplib::Request&, httplib::Response& response) {
      Send(response, std::string(DashboardPage()), "text/html; charset=utf-8");
    });
    server.Get("/api/board", [this](const httplib::Request&, httplib::Response& response) {
      Look();
      Send(response, BoardJson(board.Take()), "application/json");
    });
    server.Get("/api/events",
               [this](const httplib::Request&, httplib::Response& response) { Follow(response); });
    if (options.metrics) {
      server.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
        Send(response, options.metrics(), "text/plain; version=0.0.4; charset=utf-8");
      });
    }
    server.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty()) response.set_content("nothing here; the page is at /\n", "text/plain");
    });
    server.set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
          Refuse(response, 500, "this request failed; the run goes on\n");
        });
  }
};

DashboardServer::DashboardServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

StatusOr<std::unique_ptr<DashboardServer>> DashboardServer::Start(SharedBoard& board,
                                                                  DashboardOptions options) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Place place, ReadPlace(options.address));
  if (DashboardPage().empty()) {
    return InvalidArgument(
        "this program was built without the dashboard because Node.js was not found; run 'scripts/web' and "
        "build again, or follow the run in its events.jsonl");
  }
  if (!IsLoopback(place.host) && options.token.empty()) {
    return InvalidArgument(
        fmt::format("--dashboard {} can be reached from other machines and needs a token", options.address));
  }
  const std::string address = options.address;
  const bool secure = options.tls.has_value();
  auto parts = std::make_unique<Parts>(board, std::move(options), place.host);
  if (!parts->owned || !parts->server.is_valid()) {
    return InvalidArgument(
        "the dashboard cannot use these keys with TLS; check the folder of the coordinator's keys, or leave "
        "out "
        "--dashboard-tls");
  }
  parts->Route();
  int port = place.port;
  if (port == 0) {
    port = parts->server.bind_to_any_port(place.host);
  } else if (!parts->server.bind_to_port(place.host, port)) {
    port = -1;
  }
  if (port < 0) {
    return Unavailable("--dashboard " + address +
                       " is not available; another program may listen there. Choose another port, or 0"
                       " for any");
  }
  const std::string shown = place.host == "0.0.0.0" || place.host == "::" ? "localhost"
                            : place.host.find(':') != std::string::npos   ? "[" + place.host + "]"
                                                                          : place.host;
  parts->url = (secure ? "https://" : "http://") + shown + ":" + std::to_string(port) + "/";
  if (!parts->options.token.empty()) parts->url += "?token=" + parts->options.token;
  parts->thread = std::thread([server = &parts->server] { server->listen_after_bind(); });
  // It can be stopped only once it is running.
  while (!parts->server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return std::unique_ptr<DashboardServer>(new DashboardServer(std::move(parts)));
}

DashboardServer::~DashboardServer() {
  parts_->board.Close();
  // Followers receive the final state; a client that does not read is not awaited for long.
  const TimePoint until = parts_->clock->Now() + std::chrono::seconds(3);
  while (parts_->pages > 0 && parts_->clock->Now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  parts_->server.stop();
  parts_->thread.join();
}

const std::string& DashboardServer::url() const { return parts_->url; }

std::string MakeToken() {
  std::random_device chance;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", chance());
  return token;
}

}  // namespace tributary::inline dashboard
