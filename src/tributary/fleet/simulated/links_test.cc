#include "tributary/fleet/simulated/links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tributary/base/distributions.h"

namespace tributary::inline simulated {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

BitsPerSecond BytesEachSecond(double bytes) { return BitsPerSecond{bytes * 8}; }

struct Arrival {
  double start = 0;  // Seconds.
  std::size_t device = 0;
  Direction direction = Direction::kUp;
  std::vector<TransferPart> parts;
  double cancel = kInfinity;
};
struct Scenario {
  std::vector<ServerRates> servers;
  std::vector<ServerRates> devices;  // up and down of their own links
  std::vector<Arrival> arrivals;     // By start.
};
struct Outcome {
  double end = 0;  // Seconds; when completed or cancelled.
  double moved = 0;
  bool completed = false;
};

// Drives SharedLinks through a scenario. `looks_between` extra moments are looked at between any two changes.
std::vector<Outcome> RunShared(const Scenario& scenario, int looks_between = 0) {
  SharedLinks links(scenario.servers);
  for (const ServerRates& device : scenario.devices) links.AddDevice(device.up, device.down);
  std::vector<Outcome> outcomes(scenario.arrivals.size());
  const auto total = [&](std::size_t i) {
    double bytes = 0;
    for (const TransferPart& part : scenario.arrivals[i].parts)
      bytes += static_cast<double>(part.bytes.value);
    return bytes;
  };
  std::multimap<TimePoint, std::pair<bool, std::size_t>> plan;  // (is a cancellation, arrival)
  for (std::size_t i = 0; i < scenario.arrivals.size(); ++i) {
    plan.insert({FromSeconds(scenario.arrivals[i].start), {false, i}});
  }
  for (std::size_t i = 0; i < scenario.arrivals.size(); ++i) {
    if (scenario.arrivals[i].cancel < kInfinity)
      plan.insert({FromSeconds(scenario.arrivals[i].cancel), {true, i}});
  }
  TimePoint now{0};
  while (true) {
    const std::optional<TimePoint> change = links.NextChange();
    if (!change && plan.empty()) break;
    const TimePoint next =
        plan.empty() || (change && *change <= plan.begin()->first) ? *change : plan.begin()->first;
    for (int look = 1; look <= looks_between; ++look) {
      const TimePoint between = now + (next - now) * look / (looks_between + 1);
      if (between >= next) break;
      EXPECT_TRUE(links.AdvanceTo(between).empty());
    }
    EXPECT_GE(next, now);
    now = next;
    for (const Completion& completion : links.AdvanceTo(now)) {
      EXPECT_EQ(completion.time, now);
      const std::size_t i = completion.transfer.value;
      outcomes[i] = {ToSeconds(now), total(i), true};
    }
    if (!plan.empty() && plan.begin()->first == now) {
      const auto [is_cancellation, i] = plan.begin()->second;
      plan.erase(plan.begin());
      const Arrival& arrival = scenario.arrivals[i];
      if (!is_cancellation) {
        EXPECT_EQ(links.Start(now, {arrival.device}, arrival.direction, arrival.parts).value, i);
      } else if (const std::optional<Bytes> moved = links.Cancel(now, {i})) {
        outcomes[i] = {ToSeconds(now), static_cast<double>(moved->value), false};
      }
    }
  }
  return outcomes;
}

// The same model written the plain way: at every change the rates of all parts are worked out afresh, the levels by
// bisection, and every part is moved on.
std::vector<Outcome> RunNaively(const Scenario& scenario) {
  struct Part {
    std::size_t arrival;
    std::size_t server;
    double left;
    double rate = 0;
  };
  std::vector<Part> parts;
  std::vector<Outcome> outcomes(scenario.arrivals.size());
  std::size_t started = 0;
  double now = 0;
  const auto in_bytes = [](const ServerRates& rates, Direction direction) {
    return (direction == Direction::kUp ? rates.up : rates.down).value / 8;
  };
  while (true) {
    for (Part& part : parts) {
      const Arrival& arrival = scenario.arrivals[part.arrival];
      part.rate = in_bytes(scenario.devices[arrival.device], arrival.direction) /
                  static_cast<double>(std::count_if(parts.begin(), parts.end(), [&](const Part& other) {
                    return scenario.arrivals[other.arrival].device == arrival.device &&
                           scenario.arrivals[other.arrival].direction == arrival.direction;
                  }));
    }
    for (std::size_t server = 0; server < scenario.servers.size(); ++server) {
      for (const Direction direction : {Direction::kUp, Direction::kDown}) {
        std::vector<Part*> here;
        for (Part& part : parts) {
          if (part.server == server && scenario.arrivals[part.arrival].direction == direction)
            here.push_back(&part);
        }
        const double capacity = in_bytes(scenario.servers[server], direction);
        const auto used = [&](double level) {
          double sum = 0;
          for (const Part* part : here) sum += std::min(part->rate, level);
          return sum;
        };
        if (used(kInfinity) <= capacity) continue;
        double low = 0;
        double high = capacity;
        for (int i = 0; i < 200; ++i) (used((low + high) / 2) > capacity ? high : low) = (low + high) / 2;
        for (Part* part : here) part->rate = std::min(part->rate, low);
      }
    }
    double next = started < scenario.arrivals.size() ? scenario.arrivals[started].start : kInfinity;
    for (const Part& part : parts) {
      next = std::min({next, now + part.left / part.rate, scenario.arrivals[part.arrival].cancel});
    }
    if (next == kInfinity) return outcomes;
    for (Part& part : parts) {
      const double moved = std::isinf(part.rate) ? part.left : std::min(part.left, part.rate * (next - now));
      part.left -= moved;
      outcomes[part.arrival].moved += moved;
      outcomes[part.arrival].end = next;
    }
    now = next;
    // A part of a byte's millionth is what rounding left of a finished one.
    std::erase_if(parts, [](const Part& part) { return part.left < 1e-6; });
    std::erase_if(parts, [&](const Part& part) { return scenario.arrivals[part.arrival].cancel <= now; });
    for (; started < scenario.arrivals.size() && scenario.arrivals[started].start <= now; ++started) {
      outcomes[started].end = now;
      for (const TransferPart& part : scenario.arrivals[started].parts) {
        if (part.bytes.value > 0)
          parts.push_back({started, part.server, static_cast<double>(part.bytes.value)});
      }
    }
  }
}

Scenario OneServer(double server_rate, std::vector<double> device_rates, std::int64_t bytes) {
  Scenario scenario{{{BytesEachSecond(server_rate), kUnlimited}}, {}, {}};
  for (const double rate : device_rates) {
    scenario.arrivals.push_back({0, scenario.devices.size(), Direction::kUp, {{0, Bytes{bytes}}}});
    scenario.devices.push_back({BytesEachSecond(rate), kUnlimited});
  }
  return scenario;
}

TEST(SharedLinks, OneTransferMovesAtTheSlowerOfTheTwoLinks) {
  EXPECT_DOUBLE_EQ(RunShared(OneServer(100, {40}, 1000))[0].end, 25);
  EXPECT_DOUBLE_EQ(RunShared(OneServer(50, {200}, 1000))[0].end, 20);
  EXPECT_DOUBLE_EQ(RunShared(OneServer(kInfinity, {200}, 1000))[0].end, 5);
  EXPECT_DOUBLE_EQ(RunShared(OneServer(50, {kInfinity}, 1000))[0].end, 20);
}

TEST(SharedLinks, WithoutAnyLimitATransferEndsTheMomentItStarts) {
  const Outcome outcome = RunShared(OneServer(kInfinity, {kInfinity, kInfinity}, 1000))[1];
  EXPECT_TRUE(outcome.completed);
  EXPECT_DOUBLE_EQ(outcome.end, 0);
}

TEST(SharedLinks, EqualTransfersShareEqually) {
  for (const std::size_t n : {2u, 7u, 64u}) {
    for (const Outcome& outcome : RunShared(OneServer(1e6, std::vector<double>(n, 1e6), 125'000))) {
      EXPECT_DOUBLE_EQ(outcome.end, ToSeconds(FromSeconds(static_cast<double>(n) * 0.125))) << n;
    }
  }
}

TEST(SharedLinks, SixtyFourUploadsOfDifferentSizesFollowTheFairShareFormula) {
  // Of sizes b, 2b, …, 64b: while k of them are left each moves at rate/k, so the i-th ends after
  // Σ_{j ≤ i} b · (64 − j + 1) / rate.
  Scenario scenario = OneServer(8e6, std::vector<double>(64, 8e6), 0);
  for (std::size_t i = 0; i < 64; ++i) {
    scenario.arrivals[i].parts[0].bytes.value = 1000 * static_cast<std::int64_t>(i + 1);
  }
  const std::vector<Outcome> outcomes = RunShared(scenario);
  double expected = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    expected += 1000.0 * static_cast<double>(64 - i) / 8e6;
    EXPECT_NEAR(outcomes[i].end, expected, 1e-9) << i;
  }
}

TEST(SharedLinks, SlowDevicesLeaveTheirShareToTheOthers) {
  // Capacity 100; caps 10, 20, 100, 100. The level is (100 − 30) / 2 = 35, until the two fast ones have moved 700
  // bytes at 20 s. Then 10 and 20 are all that is asked for.
  const std::vector<Outcome> outcomes = RunShared(OneServer(100, {10, 20, 100, 100}, 700));
  EXPECT_DOUBLE_EQ(outcomes[2].end, 20);
  EXPECT_DOUBLE_EQ(outcomes[3].end, 20);
  EXPECT_DOUBLE_EQ(outcomes[1].end, 35);
  EXPECT_DOUBLE_EQ(outcomes[0].end, 70);
}

TEST(SharedLinks, StaggeredArrivalsFollowProcessorSharing) {
  // 1000 bytes each at 0, 4 and 8 s over 100 bytes/s. Alone: 400 moved at 4 s. Two: 200 more each by 8 s (600, 200).
  // Three at 100/3: the first needs 400 more: 12 s, at 20 s (1000, 600, 400). Two: 400 each in 8 s, at 28 s. One: 200
  // in 2 s, at 30 s, when 3000 bytes have passed at 100 bytes/s.
  Scenario scenario = OneServer(100, {100, 100, 100}, 1000);
  scenario.arrivals[1].start = 4;
  scenario.arrivals[2].start = 8;
  const std::vector<Outcome> outcomes = RunShared(scenario);
  EXPECT_DOUBLE_EQ(outcomes[0].end, 20);
  EXPECT_DOUBLE_EQ(outcomes[1].end, 28);
  EXPECT_DOUBLE_EQ(outcomes[2].end, 30);
}

TEST(SharedLinks, ADevicesLinkIsDividedAmongItsPartsInProgress) {
  // 90 bytes/s over three servers: 30 each until server 0 has its 300 (10 s), then 45 each: server 1 has 750 of 750 at
  // 20 s, then 90 alone: server 2 has 750 by then and the rest, 900, by 30 s.
  Scenario scenario{std::vector<ServerRates>(3), {{kUnlimited, BytesEachSecond(90)}}, {}};
  scenario.arrivals.push_back({0, 0, Direction::kDown, {{0, Bytes{300}}, {1, Bytes{750}}, {2, Bytes{1650}}}});
  EXPECT_DOUBLE_EQ(RunShared(scenario)[0].end, 30);
  // The other direction is another link: it goes on undisturbed at 90.
  scenario.devices[0].up = BytesEachSecond(90);
  scenario.arrivals.push_back({0, 0, Direction::kUp, {{0, Bytes{900}}}});
  EXPECT_DOUBLE_EQ(RunShared(scenario)[0].end, 30);
  EXPECT_DOUBLE_EQ(RunShared(scenario)[1].end, 10);
}

TEST(SharedLinks, ACancelledTransferTellsWhatItMovedAndFreesItsShare) {
  Scenario scenario = OneServer(100, {100, 100}, 1000);
  scenario.arrivals[0].cancel = 4;
  const std::vector<Outcome> outcomes = RunShared(scenario);
  EXPECT_FALSE(outcomes[0].completed);
  EXPECT_EQ(outcomes[0].moved, 200);
  EXPECT_DOUBLE_EQ(outcomes[1].end, 12);  // 200 by 4 s, then 800 at 100.
}

TEST(SharedLinks, CancellingAtTheMomentOfCompletionIsTooLate) {
  Scenario scenario = OneServer(100, {100}, 1000);
  scenario.arrivals[0].cancel = 10;
  EXPECT_TRUE(RunShared(scenario)[0].completed);
}

TEST(SharedLinks, NothingToMoveIsCompleteAtOnce) {
  Scenario scenario = OneServer(100, {100, 100}, 0);
  scenario.arrivals[0].parts.clear();
  scenario.arrivals[1].start = 3;
  EXPECT_DOUBLE_EQ(RunShared(scenario)[0].end, 0);
  EXPECT_DOUBLE_EQ(RunShared(scenario)[1].end, 3);
}

TEST(SharedLinks, ATransferBeyondTheClocksRangeNeverEnds) {
  const Outcome outcome = RunShared(OneServer(100, {1e-9}, 1'000'000))[0];
  EXPECT_FALSE(outcome.completed);
}

TEST(SharedLinks, CompletionsOfOneMomentAreInTheOrderOfStarting) {
  SharedLinks links(
      std::vector<ServerRates>{{BytesEachSecond(1000), kUnlimited}, {BytesEachSecond(1000), kUnlimited}});
  // Parts over both servers in turns, so that they end in a mixed order inside.
  for (std::size_t i = 0; i < 50; ++i) {
    const DeviceLinkId device = links.AddDevice(BytesEachSecond(1000), kUnlimited);
    const std::vector<TransferPart> parts = {{(i * 7) % 2, Bytes{100}}};
    links.Start(TimePoint(0), device, Direction::kUp, parts);
  }
  const std::vector<Completion> completions = links.AdvanceTo(FromSeconds(100));
  ASSERT_EQ(completions.size(), 50u);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(completions[i], (Completion{FromSeconds(2.5), {i}}));
}

Scenario RandomScenario(std::uint64_t seed) {
  Rng rng(seed);
  Scenario scenario;
  const std::size_t servers = 1 + rng.Below(4);
  const std::size_t devices = 1 + rng.Below(12);
  // Half of the fleets are made of a few kinds, so that many caps are equal; one server in five has no limit.
  const bool kinds = rng.Below(2) == 0;
  const auto rate = [&](double low, double high) {
    return BytesEachSecond(kinds ? low * static_cast<double>(1 + rng.Below(3)) : Uniform(rng, low, high));
  };
  for (std::size_t i = 0; i < servers; ++i) {
    scenario.servers.push_back({rng.Below(5) == 0 ? kUnlimited : rate(500, 3000), rate(500, 3000)});
  }
  for (std::size_t i = 0; i < devices; ++i) scenario.devices.push_back({rate(50, 2000), rate(100, 4000)});
  double start = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    if (rng.Below(3) > 0) start += ToSeconds(FromSeconds(Uniform(rng, 0, 1)));
    Arrival arrival{ToSeconds(FromSeconds(start)),
                    rng.Below(devices),
                    rng.Below(2) ? Direction::kUp : Direction::kDown,
                    {}};
    for (std::size_t server = 0; server < servers; ++server) {
      if (rng.Below(4) > 0)
        arrival.parts.push_back({server, Bytes{static_cast<std::int64_t>(rng.Below(3000))}});
    }
    if (rng.Below(6) == 0) arrival.cancel = ToSeconds(FromSeconds(start + Uniform(rng, 0.01, 3)));
    scenario.arrivals.push_back(arrival);
  }
  return scenario;
}

TEST(SharedLinks, AgreeWithTheNaiveSimulatorOnRandomScenarios) {
  int cancelled = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Scenario scenario = RandomScenario(seed);
    const std::vector<Outcome> ours = RunShared(scenario);
    const std::vector<Outcome> naive = RunNaively(scenario);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ASSERT_NEAR(ours[i].end, naive[i].end, 2e-9) << "seed " << seed << " transfer " << i;
      // One byte of rounding per part.
      ASSERT_NEAR(ours[i].moved, naive[i].moved, 2.001) << "seed " << seed << " transfer " << i;
      cancelled += ours[i].completed ? 0 : 1;
    }
  }
  EXPECT_GT(cancelled, 300);
}

TEST(SharedLinks, LookingMoreOftenChangesNothing) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Scenario scenario = RandomScenario(seed);
    const std::vector<Outcome> once = RunShared(scenario);
    const std::vector<Outcome> often = RunShared(scenario, 5);
    for (std::size_t i = 0; i < once.size(); ++i) {
      ASSERT_EQ(once[i].end, often[i].end);
      ASSERT_EQ(once[i].moved, often[i].moved);
    }
  }
}

TEST(SharedLinks, ABusyLinkMovesItsCapacityToTheNanosecondForHours) {
  // 20,000 transfers of odd sizes keep one link busy without a pause; the last one ends when all bytes have passed.
  Rng rng(5);
  SharedLinks links(std::vector<ServerRates>{{BytesEachSecond(1e6), kUnlimited}});
  std::vector<DeviceLinkId> devices;
  for (int i = 0; i < 50; ++i)
    devices.push_back(links.AddDevice(BytesEachSecond(Uniform(rng, 1e5, 3e6)), kUnlimited));
  // One device that alone can fill the link and is never done before the others.
  const DeviceLinkId filler = links.AddDevice(BytesEachSecond(1e7), kUnlimited);
  std::int64_t total = 20'000'000'000;
  links.Start(TimePoint(0), filler, Direction::kUp, std::vector<TransferPart>{{0, Bytes{total}}});
  TimePoint now{0};
  std::size_t completed = 0;
  for (int i = 0; i < 20'000; ++i) {
    now += FromSeconds(Uniform(rng, 0, 0.5));
    completed += links.AdvanceTo(now).size();
    const std::int64_t bytes = 1 + static_cast<std::int64_t>(rng.Below(300'000));
    total += bytes;
    links.Start(now, devices[static_cast<std::size_t>(i) % devices.size()], Direction::kUp,
                std::vector<TransferPart>{{0, Bytes{bytes}}});
  }
  TimePoint last{0};
  while (const std::optional<TimePoint> next = links.NextChange()) {
    for (const Completion& completion : links.AdvanceTo(*next)) {
      last = completion.time;
      ++completed;
    }
  }
  EXPECT_EQ(completed, 20'001u);
  EXPECT_NEAR(ToSeconds(last), static_cast<double>(total) / 1e6, 5e-9);
}

TEST(SharedLinksDeathTest, RatesArePositive) {
  EXPECT_DEATH(SharedLinks(std::vector<ServerRates>{{BitsPerSecond{0}, kUnlimited}}), "internal error");
  EXPECT_DEATH(SharedLinks({}).AddDevice(BitsPerSecond{std::nan("")}, kUnlimited), "internal error");
}

}  // namespace
}  // namespace tributary::inline simulated
