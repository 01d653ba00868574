// [stream] and [injection].
#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/experiment/forms.h"
#include "tributary/experiment/options.h"

namespace tributary::inline experiment {
bool Streams(const Experiment& e) {
  return e.stream.own || e.stream.recorded_speed ||
         std::ranges::any_of(e.fleet.groups, [](const Group& group) {
           return group.stream_rate != Distribution::Constant(0);
         });
}

namespace {

ValueForm OwnStreamForm(StreamChoice& stream, const Extensions& extensions) {
  return Own(
      &stream.own,
      {"the name of a stream of the program, or NAME:ARGUMENT", "\"string\"", "\"my-stream:argument\""},
      [&stream, &extensions](const Value& value, const Spot& spot) {
        std::string kind;
        TRIBUTARY_RETURN_IF_ERROR(Text(kind).read(value, spot));
        const std::size_t colon = std::min(kind.find(':'), kind.size());
        const std::string name = kind.substr(0, colon);
        const StreamMaker* const maker = extensions.FindStream(name);
        if (maker != nullptr) {
          stream.own = {kind, *maker, colon < kind.size() ? kind.substr(colon + 1) : ""};
          return OkStatus();
        }
        const std::vector<std::string> known = extensions.StreamNames();
        if (!known.empty()) return spot.Refuse(value, UnknownName("stream", name, known));
        return spot.Refuse(value,
                           " is '" + name + "'; this program has no streams of its own (docs/library.md)");
      },
      [&stream] { return stream.own ? Quoted(stream.own->kind) : ""; });
}

}  // namespace

OptionList StreamKeys(Experiment& e, const OptionContext& context) {
  StreamChoice& stream = e.stream;
  StreamBatchOptions& batch = stream.batch;
  OptionList list;
  const Option::Condition follows{[&batch] { return batch.rule == BatchRule::kStreamRate; },
                                  "batch = \"stream-rate\""};
  const Option::Condition scales{[&stream] { return stream.scaling.rule != RateScaling::kNone; },
                                 "scaling = \"linear\" or \"square-root\""};
  const Option::Condition sync{[&e, follows, scales] {
                                 return e.train.method == Method::kSyncSgd ||
                                        (!follows.holds() && !scales.holds());
                               },
                               "method = \"sync-sgd\""};
  list.Add("kind", OwnStreamForm(stream, context.extensions),
           "A custom stream (docs/library.md) that every device reads from.");
  list.Add("recorded-speed", Number(stream.recorded_speed, {.high = 1e6, .above_low = true}),
           "Samples arrive at their recorded times, this many times faster.")
      .OnlyWith([&stream] { return !stream.own; }, "no kind");
  list.Add("batch", OneOf(batch.rule, kBatchRules, "batch rule"),
           "Batches of train.batch, or of what arrives in window.", sync);
  list.Add("window", Time(batch.window, {.high = 3600, .above_low = true}),
           "Time window whose samples form a batch.", follows);
  list.Add("smallest-batch", Whole(batch.smallest, {1, 1'000'000}),
           "Smallest batch; with a slower stream the device waits.", follows);
  list.Add("largest-batch", Whole(batch.largest, {1, 1'000'000}), "Largest batch.", follows);
  list.Add("buffer", OneOf(stream.buffer, kBufferPolicies),
           "Keep every sample until it is used, or only the newest.");
  list.Add("scaling", OneOf(stream.scaling.rule, kRateScalings),
           "How the learning rate follows the global batch.", sync);
  list.Add("base-batch", Whole(stream.base_batch, {1, 1'000'000}),
           "Samples per device that the learning rate was chosen for.", scales)
      .Otherwise([&e] { e.stream.base_batch = e.train.batch; }, "train.batch");
  list.Add("largest-factor", Number(stream.scaling.most, {.high = 1e6, .above_low = true}),
           "Largest factor of the learning rate.", scales);
  list.Check([&e, &stream, follows](OptionList& mistakes) {
    if (stream.own && std::ranges::any_of(e.fleet.groups, [](const Group& group) {
          return !group.stream_programme.empty();
        })) {
      mistakes.Fail(&stream.own, ": the stream decides when samples arrive; leave out stream-programme");
    }
    if (e.train.local_epochs && Streams(e)) {
      mistakes.Fail(
          &stream.own,
          ": samples that arrive over time have no epochs; use train.local-steps, not local-epochs");
    }
    const StreamBatchOptions& sizes = stream.batch;
    if (follows.holds() && sizes.smallest > sizes.largest) {
      mistakes.Fail(&sizes.smallest, " is " + std::to_string(sizes.smallest) +
                                         ", above largest-batch, which is " + std::to_string(sizes.largest));
    }
  });
  return list;
}

OptionList InjectionKeys(Experiment& e, const OptionContext&) {
  InjectionOptions& injection = e.injection;
  OptionList list;
  const auto on = [&injection] { return injection.on(); };
  list.Add("devices", Number(injection.devices, {.high = 1}),
           "Share of the devices asked that share samples in each round; 0 turns injection off.")
      .OnlyWith([&e] { return !e.injection.on() || e.train.method == Method::kSyncSgd; },
                "method = \"sync-sgd\"")
      .OnlyWith([&e] { return !e.injection.on() || !e.stream.own; },
                "samples of the data set: no stream.kind");
  list.Add("share", Number(injection.share, kPositiveShare), "Share of its batch that each of them shares.")
      .OnlyWith(on, "devices above 0")
      .RequiredIf(on, "; it says how much of its batch a device shares");
  return list;
}

}  // namespace tributary::inline experiment
