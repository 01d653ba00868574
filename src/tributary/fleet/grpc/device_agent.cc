#include "tributary/fleet/grpc/device_agent.h"

#include <thread>

#include "tributary/fleet/grpc/channel.h"
#include "tributary/fleet/grpc/device_session.h"
#include "tributary/fleet/grpc/grpc_life.h"
#include "tributary/fleet/grpc/peer_client.h"
#include "tributary/fleet/grpc/peer_server.h"
#include "tributary/fleet/protocol/backoff.h"

namespace tributary::inline rpc {

Status RunDevice(const AgentOptions& options, DeviceWork& work) {
  constexpr Duration kShortestWait = std::chrono::milliseconds(200);
  constexpr Duration kPatience = std::chrono::minutes(1);
  constexpr Duration kBetweenLooks = std::chrono::milliseconds(100);
  const GrpcLife life;
  const auto clock = MakeRealClock();
  const auto stop = [&] { return options.stop && options.stop(); };
  SessionOptions session{.name = options.credentials ? options.credentials->name : options.name,
                         .build = options.build,
                         .once = options.once,
                         .link_rate = options.link_rate,
                         .stop = options.stop,
                         .say = options.say};
  PeerClient peers(options.credentials, options.name);
  session.peers = &peers;
  std::unique_ptr<PeerServer> server;
  if (options.advertise && work.offers() != nullptr) {
    TRIBUTARY_ASSIGN_OR_RETURN(
        server, PeerServer::Start({*options.advertise, options.listen, options.credentials}, *work.offers()));
    session.advertised = server->address();
  }
  Backoff backoff(kShortestWait, std::max(kShortestWait, options.longest_wait), Rng(options.seed));
  std::string last;
  const TimePoint begun = clock->Now();
  while (!stop()) {
    SessionEnd end;
    const auto channel = Dial(options.join, options.credentials, options.coordinator);
    if (const Status dialled = AwaitConnection(*channel, options.join, stop); dialled.ok()) {
      end = RunSession(channel, session, work, *clock);
    } else {
      end.reason = dialled;
    }
    if (end.stopped || stop()) return OkStatus();
    if (end.finished && options.leave_when_done) {
      options.say("the run is over");
      return OkStatus();
    }
    if (options.once && !end.joined && clock->Now() - begun > kPatience) return end.reason;
    if (end.joined) backoff.Reset();
    const Duration wait = backoff.Next();
    const std::string reason = end.finished ? "the run is over; waiting for the next" : end.reason.message();
    // Said once, not at every attempt.
    if (reason != last || end.joined) options.say(reason + "; dialling again until it works");
    last = reason;
    // Only `stop` ends it early, and that is a flag which has to be looked at.
    for (const TimePoint until = clock->Now() + wait; clock->Now() < until && !stop();) {
      const Duration left = until - clock->Now();
      std::this_thread::sleep_for(options.stop ? std::min(left, kBetweenLooks) : left);
    }
  }
  return OkStatus();
}

}  // namespace tributary::inline rpc
