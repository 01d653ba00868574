// Real gRPC over loopback: a raw client that says anything it likes against a coordinator with honest devices, the same
// with TLS and certificates, and a coordinator that says anything against a device.

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <tributary/v1/fleet.grpc.pb.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <deque>
#include <fstream>
#include <future>
#include <limits>
#include <thread>

#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"
#include "tributary/fleet/grpc/device_agent.h"
#include "tributary/fleet/grpc/frame.h"
#include "tributary/fleet/grpc/grpc_settings.h"
#include "tributary/fleet/grpc/remote_fleet.h"
#include "tributary/fleet/grpc/watch.h"
#include "tributary/fleet/grpc/wire.h"
#include "tributary/fleet/layout_hash.h"
#include "tributary/fleet/protocol/testing_exchange.h"
#include "tributary/fleet/protocol/testing_load_work.h"
#include "tributary/fleet/synchronous_round.h"
#include "tributary/keys/authority.h"

namespace tributary::inline rpc {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kHonest = 3;
constexpr std::int64_t kRawSamples = 10;  // of the device "raw", which may not change its number

std::string Address(int port) { return "127.0.0.1:" + std::to_string(port); }

// Bytes of this process that lie in memory.
std::int64_t Resident() {
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t kMostGrowth = std::int64_t{4} << 30;  // Sanitizers keep what is freed.
#else
constexpr std::int64_t kMostGrowth = 80 << 20;
#endif

// A client that knows the protocol and keeps to none of it. Every call blocks, 20 s at most.
class RawClient {
 public:
  explicit RawClient(int port, const std::optional<Credentials>& credentials = {}) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    if (credentials) arguments.SetSslTargetNameOverride(CertificateHost(kCoordinatorName));
    channel_ = grpc::CreateCustomChannel(Address(port), MakeChannelCredentials(credentials), arguments);
    context_.set_deadline(std::chrono::system_clock::now() + seconds(20));
    call_ = grpc::GenericStub(channel_).PrepareCall(&context_, "/tributary.v1.Fleet/Join", &queue_);
    call_->StartCall(this);
    Await();
  }
  ~RawClient() {
    context_.TryCancel();
    if (!ended_) (void)End();
    queue_.Shutdown();
  }

  bool Write(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    call_->Write(grpc::ByteBuffer(&slice, 1), this);
    return Await();
  }
  bool Send(const FromDevice& message, ByteSpan values = {}) {
    call_->Write(MakeBuffer(Format(message), values), this);
    return Await();
  }
  bool Send(const Piece& piece, const std::vector<float>& values) {
    return Send(piece, std::as_bytes(std::span(values)));
  }
  std::optional<ToDevice> Read() {
    grpc::ByteBuffer buffer;
    call_->Read(&buffer, this);
    if (!Await()) return std::nullopt;
    Frame frame;
    EXPECT_TRUE(ReadFrame(buffer, frame).ok());
    auto message = ParseToDevice(frame.fields);
    EXPECT_TRUE(message.ok()) << message.status();
    return *message;
  }
  template <typename Kind>
  std::optional<Kind> Expect() {
    while (const auto message = Read()) {
      if (const auto* found = std::get_if<Kind>(&*message)) return *found;
    }
    return std::nullopt;
  }

  // Greets and says it is ready, as device `number` from then on.
  void Join(const std::string& name, const std::string& layout) {
    Send(Greeting{kProtocol, "raw", name});
    const auto welcome = Expect<Welcome>();
    ASSERT_TRUE(welcome);
    number = welcome->device;
    Send(Ready{.layout = layout, .samples = kRawSamples});
    Send(Ping{77, 0});
    ASSERT_TRUE(Expect<Pong>());  // So it has been heard.
  }
  // Reads on until the coordinator ends it, and tells why it did.
  grpc::Status End() {
    grpc::ByteBuffer buffer;
    do call_->Read(&buffer, this);
    while (Await());
    grpc::Status status;
    call_->Finish(&status, this);
    Await();
    ended_ = true;
    return status;
  }

  DeviceId number;

 private:
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool ended_ = false;
};

// A coordinator, and some honest devices that stay with it.
class Site {
 public:
  explicit Site(RemoteFleetOptions options, std::vector<std::optional<Credentials>> honest) {
    options.model = model;
    options.experiment = *ReadExperimentText(tributary::testing::kLeast, {"test", std::nullopt});
    options.samples = {.name = "none", .shape = {1, 4, 4}, .classes = 10};
    options.build = "test";
    options.listen = "127.0.0.1:0";
    options.wait_for = honest.size();
    options.grace = milliseconds(300);
    auto started = RemoteFleet::Start(std::move(options));
    TRIBUTARY_CHECK(started.ok());
    fleet = *std::move(started);
    auto load = std::make_shared<LoadWork::Shared>();
    load->parameters = FlatBuffer(model->parameters.size);
    load->statistics = FlatBuffer(model->statistics.size);
    load->layout = layout;
    std::ranges::copy(update.parameters, load->parameters.data());
    std::ranges::copy(update.statistics, load->statistics.data());
    for (std::size_t i = 0; i < honest.size(); ++i) {
      threads_.emplace_back([this, i, load, credentials = honest[i]] {
        LoadWork work(load);
        (void)RunDevice({.join = Address(fleet->port()),
                         .credentials = credentials,
                         .name = "honest-" + std::to_string(i),
                         .build = "test",
                         .longest_wait = milliseconds(200),
                         .seed = i,
                         .stop = [this] { return stop_.load(); }},
                        work);
      });
    }
    TRIBUTARY_CHECK(fleet->Gather().ok());
  }
  ~Site() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  // Begins a round with everybody who is there.
  void BeginRound() {
    TRIBUTARY_CHECK(fleet->Gather().ok());
    request_ = {};
    request_.round = RoundId{++round_};
    for (const DeviceProfile& device : fleet->devices()) {
      if (fleet->Present(device.id)) request_.participants.push_back(device.id);
    }
    request_.weights = {weights_.parameters, weights_.statistics};
    sink_ = std::make_unique<ExactSink>(*model, 1000);
    training_ = std::async(std::launch::async, [this] { return RunRound(*fleet, request_, sink_.get()); });
  }
  // How it ends: the three honest ones were applied and `others` are as said, and the sum is theirs, to the bit.
  void ExpectHonestSum(const std::map<DeviceId, Outcome>& others = {}) {
    ASSERT_EQ(training_.wait_for(seconds(30)), std::future_status::ready);
    const auto report = training_.get();
    ASSERT_TRUE(report.ok()) << report.status();
    ExactSink expected(*model, 1000);
    int honest = 0;
    for (const DeviceReport& device : report->devices) {
      if (const auto other = others.find(device.device); other != others.end()) {
        EXPECT_EQ(device.outcome, other->second) << device.reason;
      } else if (device.outcome == Outcome::kApplied) {
        ++honest;
      }
      if (device.outcome == Outcome::kApplied) expected.AddAll(device.device, update);
    }
    EXPECT_EQ(honest, kHonest);
    EXPECT_TRUE(sink_->SameBits(expected));
  }
  void ExpectRound() {
    BeginRound();
    ExpectHonestSum();
  }

  const std::shared_ptr<const Model> model = SmallModel();
  const std::string layout = LayoutHash(*model);
  const TestUpdate update = UpdateOf(*model, DeviceId{0}, 0, 1);
  std::unique_ptr<RemoteFleet> fleet;

 private:
  const TestUpdate weights_ = UpdateOf(*model, DeviceId{9}, 9);
  WorkOrder request_;
  std::unique_ptr<ExactSink> sink_;
  std::uint64_t round_ = 0;
  std::future<StatusOr<RoundReport>> training_;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

class HostileDeviceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    site_ = std::make_unique<Site>(RemoteFleetOptions{}, std::vector<std::optional<Credentials>>(kHonest));
  }
  static void TearDownTestSuite() { site_.reset(); }

  static int port() { return site_->fleet->port(); }
  static void ExpectEnd(RawClient& client, const std::string& words) {
    const grpc::Status status = client.End();
    EXPECT_NE(status.error_message().find(words), std::string::npos)
        << status.error_code() << " '" << status.error_message() << "' should say: " << words;
  }
  // The words that a connection ends with on which these were said first.
  static void ExpectRefused(const std::vector<FromDevice>& messages, const std::string& words) {
    RawClient client(port());
    for (const FromDevice& message : messages) client.Send(message);
    ExpectEnd(client, words);
  }
  // What is said in the middle of a round by a device that had joined it.
  static void ExpectRefusedAtWork(const std::string& words,
                                  const std::function<void(RawClient&, const Assignment&)>& say,
                                  Outcome outcome = Outcome::kRefused) {
    RawClient client(port());
    client.Join("raw", site_->layout);
    site_->BeginRound();
    const auto assignment = client.Expect<Assignment>();
    ASSERT_TRUE(assignment);
    for (int pieces = 0; pieces < 2; ++pieces) ASSERT_TRUE(client.Expect<Piece>());  // One for each array.
    say(client, *assignment);
    ExpectEnd(client, words);
    site_->ExpectHonestSum({{client.number, outcome}});
  }
  static Piece Parameters(const Assignment& work, double weight = 1) {
    return {work.ticket, Array::kParameters, 0, weight};
  }
  static Piece Statistics(const Assignment& work, double weight = 1) {
    return {work.ticket, Array::kStatistics, 0, weight};
  }

  static std::unique_ptr<Site> site_;
};
std::unique_ptr<Site> HostileDeviceTest::site_;

const Greeting kHello{kProtocol, "raw", "raw"};

TEST_F(HostileDeviceTest, IsRefusedForSpeakingOutOfTurn) {
  ExpectRefused({Ready{}}, "ready before it greets");
  ExpectRefused({Ping{}}, "pings before it greets");
  ExpectRefused({Piece{1}}, "which it does not have");
  ExpectRefused({Answer{1}}, "which it does not have");
  ExpectRefused({Failure{1, "no"}}, "which it does not have");
  ExpectRefused({kHello, kHello}, "greets a second time");
  ExpectRefused({kHello, Piece{1}}, "which it does not have");
  const Ready ready{.layout = site_->layout, .samples = kRawSamples};
  ExpectRefused({kHello, ready, ready}, "ready a second time");
  ExpectRefused({kHello, ready, Answer{1}}, "which it does not have");
  site_->ExpectRound();
}

TEST_F(HostileDeviceTest, IsRefusedForWhatItSaysOfItself) {
  ExpectRefused({Greeting{2, "raw", "raw"}}, "speaks protocol 2 and the coordinator (build test) protocol 1");
  ExpectRefused({Greeting{1, "raw", "coordinator"}}, "coordinator");
  ExpectRefused({Greeting{1, "raw", "A B"}}, "A B");
  ExpectRefused({kHello, Ready{.layout = "other"}}, "laid out another network (other instead of");
  ExpectRefused({kHello, Ready{.layout = site_->layout, .samples = 100'000'001}},
                "at most 100000000 are accepted");
  ExpectRefused({kHello, Ready{.layout = site_->layout, .samples = -1}}, "ready.samples is -1");
  ExpectRefused(
      {kHello, Ready{.layout = site_->layout, .macs_per_second = std::numeric_limits<double>::quiet_NaN()}},
      "ready.macs_per_second is nan");
  site_->ExpectRound();
}

TEST_F(HostileDeviceTest, IsRefusedForBytesThatAreNoMessage) {
  for (const std::string& bytes :
       {std::string("garbage"), std::string(1000, '\xff'), Format(FromDevice(kHello)).substr(0, 5),
        std::string("\x7a\xff\x7f"), std::string()}) {
    RawClient client(port());
    client.Write(bytes);
    ExpectEnd(client, bytes.empty() ? "of a kind that this protocol does not have"
                                    : "is no message of this protocol");
  }
  RawClient values_first(port());
  values_first.Write(ValuesHeading(1) + "x" + Format(FromDevice(kHello)));
  ExpectEnd(values_first, "are not the last of it");
  RawClient lengthy(port());
  lengthy.Write(Format(FromDevice(Ready{.layout = std::string(2 << 20, 'x')})));
  ExpectEnd(lengthy, "more than 1 MiB besides its values");
  site_->ExpectRound();
}

TEST_F(HostileDeviceTest, IsRefusedForAMessageThatIsTooLarge) {
  const std::int64_t before = Resident();
  for (int i = 0; i < 3; ++i) {
    RawClient client(port());
    client.Write(ValuesHeading(5 << 20) + std::string(5 << 20, 'x'));
    const grpc::Status status = client.End();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_NE(status.error_message().find("larger than"), std::string::npos) << status.error_message();
    // gRPC refuses a message once it has all of it, unless the connection is broken off before.
    RawClient larger(port());
    larger.Write(ValuesHeading(24 << 20) + std::string(24 << 20, 'x'));
    EXPECT_FALSE(larger.End().ok());
  }
  EXPECT_LT(Resident() - before, kMostGrowth);
  site_->ExpectRound();
}

TEST_F(HostileDeviceTest, IsRefusedForValuesThatAreNone) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), 0x1.1p24F}) {
    ExpectRefusedAtWork("value", [&](RawClient& client, const Assignment& work) {
      client.Send(Parameters(work), site_->update.parameters);
      std::vector<float> statistics = site_->update.statistics;
      statistics.back() = bad;
      client.Send(Statistics(work), statistics);
    });
  }
}

TEST_F(HostileDeviceTest, IsRefusedForShapesAndWeightsThatDoNotFit) {
  const std::vector<float>& parameters = site_->update.parameters;
  std::vector<float> more = parameters;
  more.resize(more.size() + 16);
  const std::vector<float> fewer(parameters.begin(), parameters.end() - 1);
  ExpectRefusedAtWork("but the array has",
                      [&](auto& client, const auto& work) { client.Send(Parameters(work), more); });
  ExpectRefusedAtWork("not where pieces may begin and end",
                      [&](auto& client, const auto& work) { client.Send(Parameters(work), fewer); });
  ExpectRefusedAtWork("has no values",
                      [&](auto& client, const auto& work) { client.Send(Parameters(work)); });
  ExpectRefusedAtWork("a piece of 3 bytes", [&](auto& client, const auto& work) {
    client.Send(Parameters(work), std::as_bytes(std::span(fewer)).first(3));
  });
  ExpectRefusedAtWork("but the array has", [&](auto& client, const auto& work) {
    client.Send(Piece{work.ticket, Array::kParameters, std::numeric_limits<std::size_t>::max() - 3, 1},
                fewer);
  });
  ExpectRefusedAtWork("not asked for", [&](auto& client, const auto& work) {
    client.Send(Piece{work.ticket, Array::kMomentSums, 0, 1}, std::vector<float>(16));
  });
  for (const double weight : {65.0, 1e300}) {
    ExpectRefusedAtWork("samples were asked for at most", [&](auto& client, const auto& work) {
      client.Send(Parameters(work, weight), parameters);
    });
  }
  ExpectRefusedAtWork("piece.weight is -1",
                      [&](auto& client, const auto& work) { client.Send(Parameters(work, -1), parameters); });
  ExpectRefusedAtWork("different weights", [&](auto& client, const auto& work) {
    client.Send(Parameters(work, 1), parameters);
    client.Send(Statistics(work, 2), site_->update.statistics);
  });
}

TEST_F(HostileDeviceTest, IsRefusedForAnswersThatAreNone) {
  ExpectRefusedAtWork("before all of it has come", [&](auto& client, const auto& work) {
    client.Send(Parameters(work), site_->update.parameters);
    client.Send(Answer{.ticket = work.ticket, .samples = 1});
  });
  ExpectRefusedAtWork("which it does not have", [&](auto& client, const auto& work) {
    client.Send(Answer{.ticket = work.ticket - 1, .samples = 1});
  });
  ExpectRefusedAtWork("more than it has", [&](auto& client, const auto& work) {
    client.Send(Parameters(work), site_->update.parameters);
    client.Send(Statistics(work), site_->update.statistics);
    client.Send(Answer{.ticket = work.ticket, .samples = 1'000'000});
  });
  ExpectRefusedAtWork("answer.correct is 2", [&](auto& client, const auto& work) {
    client.Send(Answer{.ticket = work.ticket, .samples = 1, .correct = 2});
  });
  ExpectRefusedAtWork("is no message of this protocol", [&](auto& client, const auto& work) {
    client.Send(Parameters(work), site_->update.parameters);
    client.Write("garbage");
  });
}

TEST_F(HostileDeviceTest, CannotReplay) {
  ExpectRefusedAtWork("of which some came before", [&](auto& client, const auto& work) {
    client.Send(Parameters(work), site_->update.parameters);
    client.Send(Parameters(work), site_->update.parameters);
  });
  ExpectRefusedAtWork(
      "which it does not have",
      [&](auto& client, const auto& work) {
        for (int i = 0; i < 2; ++i) {
          client.Send(Parameters(work), site_->update.parameters);
          client.Send(Statistics(work), site_->update.statistics);
          client.Send(Answer{.ticket = work.ticket, .samples = 1});
        }
      },
      Outcome::kApplied);  // Once.
}

TEST_F(HostileDeviceTest, IsRefusedForFloods) {
  const std::int64_t before = Resident();
  {
    RawClient client(port());
    client.Send(kHello);
    for (int i = 0; i < 20'000 && client.Send(Ping{1, 0}); ++i) {
    }
    ExpectEnd(client, "too many messages in too short a time");
  }
  {
    RawClient client(port());
    client.Send(kHello);
    const std::vector<std::byte> probe(kLargestProbe);
    for (int i = 0; i < 2'000 && client.Send(Ping{1, kLargestProbe}, probe); ++i) {
    }
    // It reads nothing, so the reason may not reach it.
    const grpc::StatusCode code = client.End().error_code();
    EXPECT_TRUE(code == grpc::StatusCode::RESOURCE_EXHAUSTED || code == grpc::StatusCode::CANCELLED) << code;
  }
  EXPECT_LT(Resident() - before, kMostGrowth);
  site_->ExpectRound();
}

TEST_F(HostileDeviceTest, CostsLittleMemoryPerConnection) {
  const std::int64_t before = Resident();
  std::vector<std::unique_ptr<RawClient>> clients;
  const std::vector<std::byte> probe(kLargestProbe);
  for (int i = 0; i < 150; ++i) {
    clients.push_back(std::make_unique<RawClient>(port()));
    clients.back()->Send(Greeting{kProtocol, "raw", "raw-" + std::to_string(i)});
    clients.back()->Send(Ping{1, 0}, probe);
    ASSERT_TRUE(clients.back()->Expect<Pong>());
  }
  EXPECT_LT(Resident() - before, kMostGrowth);
  site_->ExpectRound();
}

TEST_F(HostileDeviceTest, DoesNotHoldUpARoundByNeverGreetingOrReading) {
  RawClient silent(port());
  RawClient deaf(port());
  deaf.Join("deaf", site_->layout);
  site_->BeginRound();
  ASSERT_TRUE(deaf.Expect<Assignment>());
  deaf.Send(Answer{.ticket = 1});  // What it was not given; then it takes no notice of the end.
  site_->ExpectHonestSum({{deaf.number, Outcome::kRefused}});
}

TEST_F(HostileDeviceTest, DoesNotHoldUpARoundByBreakingOff) {
  auto client = std::make_unique<RawClient>(port());
  client->Join("raw", site_->layout);
  const DeviceId number = client->number;
  site_->BeginRound();
  const auto work = client->Expect<Assignment>();
  for (int pieces = 0; pieces < 2; ++pieces) ASSERT_TRUE(client->Expect<Piece>());
  client->Send(Parameters(*work), site_->update.parameters);
  client.reset();
  site_->ExpectHonestSum({{number, Outcome::kCrashed}});
}

TEST_F(HostileDeviceTest, MayWatchWithoutTls) {
  const auto fleet = WatchFleet(Address(port()), std::nullopt);
  ASSERT_TRUE(fleet.ok()) << fleet.status();
  int waiting = 0;
  for (const WatchedDevice& device : fleet->devices) waiting += device.state == "waiting" ? 1 : 0;
  EXPECT_GE(waiting, kHonest);
}

class TlsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ =
        std::filesystem::path(::testing::TempDir()) / ("tributary_hostile_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    for (const char* authority : {"keys", "other"}) {
      TRIBUTARY_CHECK(InitAuthority(folder_ / authority, {.now = std::time(nullptr)}).ok());
    }
    std::vector<std::optional<Credentials>> honest;
    for (int i = 0; i < kHonest; ++i) honest.emplace_back(Issue("keys", "honest-" + std::to_string(i)));
    RemoteFleetOptions options;
    options.credentials = Bundle("keys", "coordinator");
    options.revoked = folder_ / "keys" / "revoked.pem";
    options.wall_clock = [] { return SystemWallClock()() + ahead_.load(); };
    site_ = std::make_unique<Site>(std::move(options), std::move(honest));
  }
  static void TearDownTestSuite() {
    site_.reset();
    std::filesystem::remove_all(folder_);
  }

  static Credentials Bundle(const std::string& authority, const std::string& bundle) {
    auto credentials = LoadCredentials(folder_ / authority / bundle);
    TRIBUTARY_CHECK(credentials.ok());
    return *credentials;
  }
  static Credentials Issue(const std::string& authority, const std::string& name, int days = 825,
                           Role role = Role::kDevice) {
    const auto bundle =
        IssueDevice(folder_ / authority, name,
                    {.now = std::time(nullptr), .validity = std::chrono::days(days), .role = role});
    TRIBUTARY_CHECK(bundle.ok());
    return *LoadCredentials(*bundle);
  }
  static int port() { return site_->fleet->port(); }
  static bool Known(const std::string& name) {
    return std::ranges::any_of(site_->fleet->members(),
                               [&](const auto& member) { return member.name == name; });
  }

  static std::filesystem::path folder_;
  static std::atomic<WallTime> ahead_;  // how far the coordinator's clock is ahead
  static std::unique_ptr<Site> site_;
};
std::filesystem::path TlsTest::folder_;
std::atomic<WallTime> TlsTest::ahead_ = WallTime(0);
std::unique_ptr<Site> TlsTest::site_;

TEST_F(TlsTest, LetsDevicesWithCertificatesWork) { site_->ExpectRound(); }

TEST_F(TlsTest, RefusesACertificateOfAnotherAuthority) {
  Credentials stranger = Issue("other", "stranger");
  stranger.authority_pem =
      Bundle("keys", "coordinator").authority_pem;  // It trusts the coordinator all the same.
  RawClient client(port(), stranger);
  client.Send(Greeting{kProtocol, "raw", "stranger"});
  EXPECT_EQ(client.End().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(Known("stranger"));
}

TEST_F(TlsTest, RefusesAClientWithoutTls) {
  const auto channel = Dial(Address(port()), std::nullopt, std::string(kCoordinatorName));
  EXPECT_FALSE(AwaitConnection(*channel, Address(port()), {}).ok());
  RawClient client(port());
  client.Send(Greeting{kProtocol, "raw", "plain"});
  EXPECT_FALSE(client.End().ok());
  EXPECT_FALSE(Known("plain"));
}

TEST_F(TlsTest, RefusesARevokedCertificateAtOnce) {
  const Credentials pi = Issue("keys", "pi-1");
  ASSERT_TRUE(Revoke(folder_ / "keys", "pi-1", std::time(nullptr)).ok());
  RawClient client(port(), pi);
  client.Send(Greeting{kProtocol, "raw", "pi-1"});
  EXPECT_EQ(client.End().error_message(), "the certificate of 'pi-1' has been revoked");
  EXPECT_FALSE(Known("pi-1"));
}

TEST_F(TlsTest, DisconnectsWhoIsRevokedWhileConnected) {
  RawClient client(port(), Issue("keys", "pi-2"));
  client.Join("pi-2", site_->layout);
  ASSERT_TRUE(Revoke(folder_ / "keys", "pi-2", std::time(nullptr)).ok());
  EXPECT_EQ(client.End().error_message(), "the certificate of 'pi-2' has been revoked");
  site_->ExpectRound();
}

TEST_F(TlsTest, DisconnectsWhoseCertificateExpiresWhileConnected) {
  const Credentials pi = Issue("keys", "pi-6", /*days=*/1);
  RawClient client(port(), pi);
  client.Join("pi-6", site_->layout);
  ahead_ = std::chrono::days(2);
  const std::string reason = client.End().error_message();
  EXPECT_TRUE(reason.starts_with("the certificate of 'pi-6' expired on ")) << reason;
  EXPECT_NE(reason.find("tributary keys device pi-6 --renew"), std::string::npos) << reason;
  RawClient again(port(), pi);  // TLS uses the machine's clock and accepts it.
  EXPECT_EQ(again.End().error_message(), reason);
  site_->ExpectRound();  // The others stay.
  ahead_ = WallTime(0);
}

TEST_F(TlsTest, AdmitsNobodyWhenTheRevocationListHasExpired) {
  const auto ahead = std::make_shared<std::atomic<WallTime>>(WallTime(0));
  RemoteFleetOptions options;
  options.credentials = Bundle("keys", "coordinator");
  options.revoked = folder_ / "keys" / "revoked.pem";
  options.wall_clock = [ahead] { return SystemWallClock()() + ahead->load(); };
  const Site site(std::move(options), {});
  RawClient client(site.fleet->port(), Issue("keys", "pi-7"));
  client.Join("pi-7", site.layout);
  *ahead = std::chrono::days(91);
  const std::string reason = client.End().error_message();
  EXPECT_NE(reason.find("revocation list expired on"), std::string::npos) << reason;
}

TEST_F(TlsTest, RefusesTheNameOfAnotherDevice) {
  RawClient client(port(), Issue("keys", "pi-3"));
  client.Send(Greeting{kProtocol, "raw", "honest-0"});
  EXPECT_EQ(client.End().error_message(),
            "the device calls itself 'honest-0' but its certificate is that of 'pi-3'");
  RawClient operators(port(), Bundle("keys", "operator"));
  operators.Send(Greeting{kProtocol, "raw", ""});
  EXPECT_NE(operators.End().error_message().find("operator"), std::string::npos);
  site_->ExpectRound();
}

TEST_F(TlsTest, LimitsTheConnectionsOfOneName) {
  const Credentials pi = Issue("keys", "pi-18");
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(std::make_unique<RawClient>(port(), pi));
    clients.back()->Send(Greeting{kProtocol, "raw", "pi-18"});
    ASSERT_TRUE(clients.back()->Expect<Welcome>()) << i;
  }
  EXPECT_EQ(RawClient(port(), pi).End().error_message(), "'pi-18' has 16 connections already");
  site_->ExpectRound();  // Others have their own.
  clients.clear();
  const auto limit = std::chrono::steady_clock::now() + seconds(20);
  for (bool welcome = false; !welcome;) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit);
    RawClient client(port(), pi);
    client.Send(Greeting{kProtocol, "raw", "pi-18"});
    welcome = client.Expect<Welcome>().has_value();
  }
}

// As if gRPC's listener had ended.
TEST_F(TlsTest, GoesOnListeningWhenItsSocketIsShutDown) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    int listens = 0;
    sockaddr_in address{};
    socklen_t length = sizeof(listens), address_length = sizeof(address);
    ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length);
    ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &address_length);
    if (listens != 0 && ntohs(address.sin_port) == port())
      found += ::shutdown(descriptor, SHUT_RDWR) == 0 ? 1 : 0;
  }
  ASSERT_EQ(found, 1);
  const Credentials pi = Issue("keys", "pi-19");
  const auto limit = std::chrono::steady_clock::now() + seconds(20);
  for (bool connected = false; !connected;) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit);
    const auto channel = Dial(Address(port()), pi, std::string(kCoordinatorName));
    connected = AwaitConnection(*channel, Address(port()), {}).ok();
  }
  site_->ExpectRound();  // Devices that were connected stay.
}

// Every call of the protocol, for every role.
TEST_F(TlsTest, GrantsEachRoleItsCallsAndNoOthers) {
  const auto joins = [&](const Credentials& who) {
    RawClient client(port(), who);
    client.Send(Greeting{kProtocol, "raw", ""});
    return client.Expect<Welcome>().has_value() ? OkStatus() : FromGrpc(client.End());
  };
  const auto watches = [&](const Credentials& who) { return WatchFleet(Address(port()), who).status(); };
  const auto asks = [&](OperatorRequest::Kind kind) {
    return [kind](const Credentials& who) {
      // Nothing changes: it has no such device, and nobody has 0 of them.
      const Status status = OperateFleet(Address(port()), who, {kind, "nobody", 0});
      const bool heard = status.message() == "no device 'nobody' has joined this run" ||
                         status.message().starts_with("a quorum of 0 devices");
      return heard ? OkStatus() : status;
    };
  };
  using Kind = OperatorRequest::Kind;
  const struct {
    const char* what;
    Right right;
    std::function<Status(const Credentials&)> call;
  } calls[] = {{"device", Right::kTakePart, joins},
               {"fleet", Right::kWatch, watches},
               {"fleet --drop", Right::kOperate, asks(Kind::kDrop)},
               {"fleet --ban", Right::kOperate, asks(Kind::kBan)},
               {"fleet --admit", Right::kOperate, asks(Kind::kAdmit)},
               {"fleet --quorum", Right::kOperate, asks(Kind::kQuorum)}};
  for (const Role role : kRoles) {
    const Credentials who = Issue("keys", "a-" + std::string(NameOf(role)), 825, role);
    for (const auto& one : calls) {
      const Status status = one.call(who);
      if (May(role, one.right)) {
        EXPECT_TRUE(status.ok()) << NameOf(role) << ": " << one.what << ": " << status;
      } else {
        EXPECT_EQ(status, CheckRight({who.name, role}, one.right)) << one.what;
      }
    }
    // Devices work for a coordinator only, even if they were told to expect this name.
    RemoteFleetOptions options;
    options.credentials = who;
    const Site impostor(std::move(options), {});
    const std::string address = Address(impostor.fleet->port());
    const auto channel = Dial(address, Bundle("keys", "devices/honest-0"), who.name);
    if (!May(role, Right::kLead) && !May(role, Right::kTakePart)) {
      EXPECT_FALSE(AwaitConnection(*channel, address, {}).ok()) << NameOf(role);  // TLS refuses it.
      continue;
    }
    ASSERT_TRUE(AwaitConnection(*channel, address, {}).ok()) << NameOf(role);
    auto load = std::make_shared<LoadWork::Shared>();
    load->layout = "other";
    LoadWork work(load);
    const auto clock = MakeRealClock();
    const SessionEnd end = RunSession(channel, {.name = "honest-0", .authenticated = true}, work, *clock);
    const Status right = CheckRight({who.name, role}, Right::kLead);
    const std::string words = right.ok() ? "lays the network out in another way" : right.message();
    EXPECT_NE(end.reason.message().find(words), std::string::npos) << end.reason;
  }
}

// The coordinator sends its list, and devices judge it by that.
TEST_F(TlsTest, SendsTheRevocationListToDevices) {
  RawClient client(port(), Issue("keys", "pi-4"));
  client.Send(Greeting{kProtocol, "raw", "pi-4"});
  const auto first = client.Read();
  ASSERT_TRUE(first);
  const auto* const notice = std::get_if<RevocationNotice>(&*first);  // before the welcome
  ASSERT_NE(notice, nullptr);
  auto list = *RevocationList::Receive(Bundle("keys", "operator").authority_pem);
  ASSERT_TRUE(list->Accept(notice->lists).ok());
  const Credentials revoked = Issue("keys", "pi-8");
  EXPECT_TRUE(list->Check(revoked.certificate_pem).ok());
  ASSERT_TRUE(Revoke(folder_ / "keys", "pi-8", std::time(nullptr)).ok());
  const auto changed = client.Expect<RevocationNotice>();
  ASSERT_TRUE(changed);
  ASSERT_TRUE(list->Accept(changed->lists).ok());
  EXPECT_FALSE(list->Check(revoked.certificate_pem).ok());
}

// A coordinator whose key was stolen: its certificate is valid, and revoked.
TEST_F(TlsTest, DevicesLeaveARevokedCoordinator) {
  const Credentials stolen = Issue("keys", "stolen", 825, Role::kCoordinator);
  const auto meet = [&](const std::filesystem::path& list) {
    RemoteFleetOptions options;
    options.credentials = stolen;
    options.revoked = list;
    const Site site(std::move(options), {});
    const std::string address = Address(site.fleet->port());
    const auto channel = Dial(address, Bundle("keys", "devices/honest-0"), "stolen");
    EXPECT_TRUE(AwaitConnection(*channel, address, {}).ok());
    auto load = std::make_shared<LoadWork::Shared>();
    load->layout = "other";
    LoadWork work(load);
    const auto clock = MakeRealClock();
    auto known = RevocationList::Receive(stolen.authority_pem, {.newest = folder_ / "state.pem"});
    TRIBUTARY_CHECK(known.ok());
    return RunSession(channel, {.name = "honest-0", .authenticated = true, .revoked = known->get()}, work,
                      *clock)
        .reason.message();
  };
  const std::filesystem::path before = folder_ / "before.pem";
  std::filesystem::copy_file(folder_ / "keys" / "revoked.pem", before,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_NE(meet({}).find("the coordinator has sent no revocation list"), std::string::npos);
  EXPECT_NE(meet(before).find("lays the network out in another way"), std::string::npos) << "is trusted";
  ASSERT_TRUE(Revoke(folder_ / "keys", "stolen", std::time(nullptr)).ok());
  EXPECT_NE(meet(folder_ / "keys" / "revoked.pem").find("the certificate of 'stolen' has been revoked"),
            std::string::npos);
  // From then on an old list does not help it.
  EXPECT_NE(meet(before).find("older revocation list"), std::string::npos);
}

TEST_F(TlsTest, DoesNotTakeADeviceForTheCoordinator) {
  RemoteFleetOptions options;
  options.credentials = Issue("keys", "pi-5");
  const Site impostor(std::move(options), {});
  const std::string address = Address(impostor.fleet->port());
  const auto channel = Dial(address, Bundle("keys", "devices/honest-0"), std::string(kCoordinatorName));
  const Status status = AwaitConnection(*channel, address, {});
  EXPECT_NE(status.message().find("no coordinator that can be trusted answers at " + address),
            std::string::npos);
  const auto knowing = Dial(address, Bundle("keys", "devices/honest-0"), "pi-5");
  EXPECT_TRUE(AwaitConnection(*knowing, address, {}).ok());
}

// A coordinator that answers each message as a test says.
class FakeCoordinator : public v1::Fleet::WithRawCallbackMethod_Join<v1::Fleet::Service> {
 public:
  using Replies = std::vector<std::pair<ToDevice, std::vector<std::byte>>>;
  using Script = std::function<Replies(const FromDevice&)>;

  explicit FakeCoordinator(Script script) : script_(std::move(script)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    builder.SetMaxSendMessageSize(-1);
    server_ = builder.BuildAndStart();
  }
  ~FakeCoordinator() override { server_->Shutdown(std::chrono::system_clock::now() + seconds(1)); }

  int port() const { return port_; }

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Join(grpc::CallbackServerContext*) override {
    return new Reactor(script_);
  }

 private:
  class Reactor : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
   public:
    explicit Reactor(const Script& script) : script_(script) { StartRead(&incoming_); }

    void OnReadDone(bool ok) override {
      const std::lock_guard lock(mutex_);
      if (!ok) {
        reading_ = false;
        return Go();
      }
      Frame frame;
      EXPECT_TRUE(ReadFrame(incoming_, frame).ok());
      const auto message = ParseFromDevice(frame.fields);
      EXPECT_TRUE(message.ok()) << message.status();
      for (const auto& [reply, values] : script_(*message)) {
        outbox_.push_back(MakeBuffer(Format(reply), values));
      }
      StartRead(&incoming_);
      Go();
    }
    void OnWriteDone(bool ok) override {
      const std::lock_guard lock(mutex_);
      writing_ = false;
      outbox_.erase(outbox_.begin());
      if (!ok) outbox_.clear();
      Go();
    }
    void OnDone() override { delete this; }

   private:
    void Go() {
      if (writing_ || finished_) return;
      if (!reading_) {
        finished_ = true;
        Finish(grpc::Status::OK);
      } else if (!outbox_.empty()) {
        writing_ = true;
        StartWrite(&outbox_.front());
      }
    }

    const Script& script_;
    grpc::ByteBuffer incoming_;
    std::mutex mutex_;
    std::deque<grpc::ByteBuffer> outbox_;
    bool reading_ = true, writing_ = false, finished_ = false;
  };

  const Script script_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

class HostileCoordinatorTest : public ::testing::Test {
 protected:
  using Replies = FakeCoordinator::Replies;

  HostileCoordinatorTest() {
    load_->parameters = FlatBuffer(1024);
    load_->statistics = FlatBuffer(16);
    load_->layout = "layout";
  }

  static Welcome SomeWelcome() {
    return {.build = "evil",
            .experiment = "",
            .input = {1, 4, 4},
            .classes = 10,
            .layout = "layout",
            .piece_floats = 1024};
  }
  static std::vector<std::byte> Floats(std::size_t count) {
    return std::vector<std::byte>(count * sizeof(float));
  }
  static Replies Work(std::uint64_t ticket) {
    return {{Assignment{ticket, RoundId{1}, TrainAssignment{}}, {}},
            {Piece{ticket, Array::kParameters, 0, 0}, Floats(1024)},
            {Piece{ticket, Array::kStatistics, 0, 0}, Floats(16)}};
  }

  // How a device's session ends that is welcomed and, when it is ready, told `then`.
  SessionEnd Meet(const Welcome& welcome, const Replies& then, const Replies& before = {}) {
    const FakeCoordinator coordinator([&](const FromDevice& message) -> Replies {
      if (std::holds_alternative<Greeting>(message)) {
        Replies replies = before;
        replies.emplace_back(welcome, std::vector<std::byte>());
        return replies;
      }
      if (const auto* ping = std::get_if<Ping>(&message)) {
        return {{Pong{ping->nonce}, std::vector<std::byte>(ping->answer_bytes)}};
      }
      return std::holds_alternative<Ready>(message) ? then : Replies();
    });
    const std::string address = Address(coordinator.port());
    const auto channel = Dial(address, std::nullopt, std::string(kCoordinatorName));
    EXPECT_TRUE(AwaitConnection(*channel, address, {}).ok());
    LoadWork work(load_);
    const auto clock = MakeRealClock();
    const TimePoint begun = clock->Now();
    return RunSession(channel, {.name = "a", .stop = [&] { return clock->Now() - begun > seconds(20); }},
                      work, *clock);
  }
  void ExpectEnd(const SessionEnd& end, const std::string& words) {
    EXPECT_FALSE(end.stopped);
    EXPECT_NE(end.reason.message().find(words), std::string::npos) << end.reason << " should say: " << words;
  }

  const std::shared_ptr<LoadWork::Shared> load_ = std::make_shared<LoadWork::Shared>();
};

TEST_F(HostileCoordinatorTest, IsLeftForAWelcomeThatDoesNotFit) {
  Welcome welcome = SomeWelcome();
  welcome.layout = "other";
  ExpectEnd(Meet(welcome, {}),
            "lays the network out in another way than the coordinator (layout instead of other)");
  welcome = SomeWelcome();
  welcome.protocol = 2;
  ExpectEnd(Meet(welcome, {}), "the coordinator (build evil) speaks protocol 2 and this device protocol 1");
  welcome = SomeWelcome();
  welcome.needs = {"samples"};
  ExpectEnd(Meet(welcome, {}), "start it with --allow samples if its owner agrees");
  welcome = SomeWelcome();
  welcome.piece_floats = 1;
  ExpectEnd(Meet(welcome, {}), "welcome.piece_floats is 1");
}

TEST_F(HostileCoordinatorTest, IsLeftForSpeakingOutOfTurn) {
  ExpectEnd(Meet(SomeWelcome(), {{SomeWelcome(), {}}}), "welcomes a second time");
  ExpectEnd(Meet(SomeWelcome(), {}, Work(1)), "gives work out of turn");
  Replies twice = {Work(1)[0], Work(2)[0]};
  ExpectEnd(Meet(SomeWelcome(), twice), "gives work out of turn");
}

TEST_F(HostileCoordinatorTest, IsLeftForPiecesThatDoNotFit) {
  const auto piece = [&](const Piece& wrong, std::vector<std::byte> values) {
    Replies replies = {Work(1)[0]};
    replies.emplace_back(wrong, std::move(values));
    return Meet(SomeWelcome(), replies);
  };
  ExpectEnd(piece({1, Array::kParameters, 1024, 0}, Floats(16)), "but the array has 1024");
  ExpectEnd(piece({1, Array::kParameters, 0, 0}, Floats(2048)), "but the array has 1024");
  ExpectEnd(piece({1, Array::kStatistics, SIZE_MAX - 3, 0}, Floats(16)), "but the array has 16");
  ExpectEnd(piece({1, Array::kParameters, 7, 0}, Floats(16)), "not where pieces may begin and end");
  ExpectEnd(piece({1, Array::kParameters, 0, 0}, {}), "has no values");
  ExpectEnd(piece({1, Array::kMomentSums, 0, 0}, Floats(16)), "an array that devices do not take");
  ExpectEnd(piece({1, Array::kParameters, 0, 0}, std::vector<std::byte>(7)), "part of a number");
  Replies again = {Work(1)[0], Work(1)[1], Work(1)[1]};
  ExpectEnd(Meet(SomeWelcome(), again), "of which some came before");
}

TEST_F(HostileCoordinatorTest, IsLeftForAMessageThatIsTooLarge) {
  const SessionEnd end = Meet(SomeWelcome(), {{Pong{1}, std::vector<std::byte>(5 << 20)}});
  EXPECT_EQ(end.reason.code(), StatusCode::kResourceExhausted) << end.reason;
}

// Assignments that end at every possible moment: before they begin, while they are worked on, after.
TEST_F(HostileCoordinatorTest, MayEndItsAssignmentsAtAnyMoment) {
  Replies replies;
  for (std::uint64_t ticket = 1; ticket <= 300; ++ticket) {
    std::ranges::move(Work(ticket), std::back_inserter(replies));
    replies.emplace_back(Verdict{ticket, Verdict::Outcome::kLate, "so"}, std::vector<std::byte>());
  }
  replies.emplace_back(Farewell{true}, std::vector<std::byte>());
  const SessionEnd end = Meet(SomeWelcome(), replies);
  EXPECT_TRUE(end.finished) << end.reason;
  EXPECT_TRUE(end.joined);
}

TEST_F(HostileCoordinatorTest, SaysNothingAtAllAndIsLeftWhenToldTo) {
  const FakeCoordinator silent([](const FromDevice&) { return Replies(); });
  const std::string address = Address(silent.port());
  const auto channel = Dial(address, std::nullopt, std::string(kCoordinatorName));
  ASSERT_TRUE(AwaitConnection(*channel, address, {}).ok());
  LoadWork work(load_);
  const auto clock = MakeRealClock();
  const TimePoint begun = clock->Now();
  const SessionEnd end = RunSession(
      channel, {.name = "a", .stop = [&] { return clock->Now() - begun > milliseconds(100); }}, work, *clock);
  EXPECT_TRUE(end.stopped);
  EXPECT_FALSE(end.joined);
}

}  // namespace
}  // namespace tributary::inline rpc
