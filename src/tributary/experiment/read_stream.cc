#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/experiment/sections.h"

namespace tributary {
namespace {

void ReadOwn(Section& section, const Experiment& rest, const Extensions& extensions, StreamChoice& stream) {
  std::optional<std::string> kind;
  section.Read("kind", kind);
  if (!kind) return;
  const std::size_t colon = std::min(kind->find(':'), kind->size());
  const std::string name = kind->substr(0, colon);
  const StreamMaker* const maker = extensions.FindStream(name);
  if (maker == nullptr) {
    const std::vector<std::string> known = extensions.StreamNames();
    section.Fail("kind", known.empty()
                             ? " is '" + name + "'; this program has no streams of its own (docs/library.md)"
                             : ": " + UnknownName("stream", name, known).message());
    return;
  }
  stream.own = {*kind, *maker, colon < kind->size() ? kind->substr(colon + 1) : ""};
  if (std::ranges::any_of(rest.fleet.groups,
                          [](const Group& group) { return !group.stream_programme.empty(); })) {
    section.Fail("kind", ": the stream decides when samples come; leave out stream-programme");
  }
}

}  // namespace

Status ReadStream(Section section, const Experiment& rest, const Extensions& extensions,
                  StreamChoice& stream) {
  const Training& train = rest.train;
  const auto names = [](const auto& all) {
    std::vector<std::string> list;
    for (const auto one : all) list.emplace_back(NameOf(one));
    return list;
  };
  ReadOwn(section, rest, extensions, stream);
  section.OnlyWith("recorded-speed", !stream.own, "no kind");
  section.Read("recorded-speed", stream.recorded_speed, Range{.high = 1e6, .above_low = true});
  StreamBatchOptions& batch = stream.batch;
  std::string rule(NameOf(batch.rule)), scaling(NameOf(stream.scaling.rule));
  section.ReadName("batch", "batch rule", names(kBatchRules), rule);
  if (const auto parsed = ParseBatchRule(rule); parsed.ok()) batch.rule = *parsed;
  section.Read("window", batch.window, Range{.high = 3600, .above_low = true});
  const auto read_size = [&](std::string_view key, std::size_t& out) {
    auto size = static_cast<std::int64_t>(out);
    section.Read(key, size, 1, 1'000'000);
    out = static_cast<std::size_t>(size);
  };
  read_size("smallest-batch", batch.smallest);
  read_size("largest-batch", batch.largest);
  section.ReadWord("buffer", kBufferPolicies, stream.buffer);
  section.ReadName("scaling", "scaling", names(kRateScalings), scaling);
  if (const auto parsed = ParseRateScaling(scaling); parsed.ok()) stream.scaling.rule = *parsed;
  section.Read("largest-factor", stream.scaling.most, Range{.high = 1e6, .above_low = true});
  stream.base_batch = train.batch;
  section.Read("base-batch", stream.base_batch, 1, 1'000'000);
  const bool arrives = std::ranges::any_of(
      rest.fleet.groups, [](const Group& group) { return group.stream_rate != Distribution::Constant(0); });
  if (train.local_epochs && (arrives || stream.own || stream.recorded_speed)) {
    section.Fail("kind",
                 ": samples that arrive over time have no epochs; leave out train.local-epochs, and use"
                 " train.local-steps");
  }
  const bool follows = batch.rule == BatchRule::kStreamRate;
  const bool scales = stream.scaling.rule != RateScaling::kNone;
  for (const auto key : {"window", "smallest-batch", "largest-batch"}) {
    section.OnlyWith(key, follows, "batch = \"stream-rate\"");
  }
  for (const auto key : {"largest-factor", "base-batch"}) {
    section.OnlyWith(key, scales, "scaling = \"linear\" or \"square-root\"");
  }
  for (const auto key : {"batch", "scaling"}) {
    section.OnlyWith(key, train.method == Method::kSyncSgd || (!follows && !scales), "method = \"sync-sgd\"");
  }
  if (follows && batch.smallest > batch.largest) {
    section.Fail("smallest-batch", " is " + std::to_string(batch.smallest) +
                                       ", above largest-batch, which is " + std::to_string(batch.largest));
  }
  return section.Finish();
}

}  // namespace tributary
