#include <algorithm>

#include "tributary/experiment/sections.h"

namespace tributary::inline experiment {
namespace {

constexpr std::string_view kSplitOnly = "method = \"split\"";

// What leaves no room for a network that is cut, in sections that have been read for themselves.
void CheckOthers(Section& section, const Experiment& rest, const SplitChoice& split) {
  if (rest.data.hold_out > 0) {
    section.Fail("cut",
                 ": devices have only a part of the network and cannot evaluate it; leave out data.hold-out");
  }
  if (rest.model.compute_as) {
    section.Fail(
        "cut",
        ": the network that is trained is cut, and another in its place would be cut elsewhere; leave out"
        " model.compute-as");
  }
  if (!rest.model.freeze.empty()) {
    section.Fail(
        "cut",
        ": devices have the network's first layers in order to train them; leave out model.freeze, or use"
        " method = \"federated\" or \"sync-sgd\"");
  }
  if (!split.averages() && rest.fleet.participation != Portion::Share(1.0)) {
    section.Fail("cut", ": who takes part in a step is drawn by [sampling]; leave out fleet.participation");
  }
  const bool streams = std::ranges::any_of(
      rest.fleet.groups, [](const Group& group) { return group.stream_rate != Distribution::Constant(0); });
  const StreamChoice& stream = rest.stream;
  if (streams || stream.own || stream.recorded_speed || stream.batch.rule != BatchRule::kFixed ||
      stream.buffer != BufferPolicy::kPersist) {
    section.Fail("cut", std::string(": method = \"split\" ") +
                            (split.averages() ? "must know a step's samples on both sides of the cut"
                                              : "plans epochs over samples that are there from the start") +
                            "; leave out stream-rate, stream-programme and [stream]");
  }
  if (split.tail && split.averages()) {
    section.Fail("tail",
                 ": fronts are averaged, and a tail would have to be too; leave it out, or use"
                 " variant = \"parallel\"");
  }
  if (split.tail &&
      (rest.transfers.strategy != TransferStrategy::kSequential || rest.transfers.largest_segment)) {
    section.Fail(
        "tail",
        ": its layers are at both ends of the network, whose weights then travel in one piece; leave out"
        " transfers.strategy and transfers.largest-segment");
  }
}

}  // namespace

SplitVariant VariantOf(Section section) {
  SplitVariant variant = section.Has("variant") ? SplitVariant::kSplitFed1 : SplitVariant::kParallel;
  section.ReadWord("variant", kSplitVariants, variant);
  return variant;
}

Status ReadSplit(Section section, const Experiment& rest, SplitChoice& split) {
  const Training& train = rest.train;
  section.Read("cut", split.cut);
  section.Read("tail", split.tail);
  section.ReadName("activations", "precision", kSplitPrecisions, split.activations);
  section.ReadName("gradients", "precision", kSplitPrecisions, split.gradients);
  section.Read("server-compute", split.server_compute);
  section.ReadWord("variant", kSplitVariants, split.variant);
  for (const auto key : {"cut", "tail", "activations", "gradients", "server-compute", "variant"}) {
    section.OnlyWith(key, train.method == Method::kSplit, kSplitOnly);
  }
  if (train.method == Method::kSplit) CheckOthers(section, rest, split);
  return section.Finish();
}

Status ReadSampling(Section section, const Training& train, const SplitChoice& split,
                    const Extensions& extensions, SamplingOptions& sampling) {
  std::string method(NameOf(sampling.method));
  std::vector<std::string> methods = NamesOf(kSamplingMethods);
  for (std::string& own : extensions.SamplerNames()) methods.push_back(std::move(own));
  section.ReadName("method", "sampling method", methods, method);
  if (const auto parsed = ParseSamplingMethod(method); parsed.ok()) sampling.method = *parsed;
  if (auto own = extensions.FindSampler(method)) {
    sampling.method = SamplingMethod::kOwn;
    sampling.own = std::move(own);
    sampling.own_name = method;
  }
  section.Read("delta", sampling.delta, Range{.low = -1000, .high = 1000});
  section.Read("concentration", sampling.concentration, Range{.low = 1e-6, .high = 1e6});
  section.ReadName("draw", "draw", kSamplingDraws, sampling.draw);
  section.ReadName("order", "order", kStepOrders, sampling.order);
  section.Read("max-deviation", sampling.max_deviation, Range{.high = 2});
  const bool samples = train.method == Method::kSplit;
  const bool dirichlet = sampling.method == SamplingMethod::kLatentDirichlet;
  const bool deadline = sampling.method == SamplingMethod::kDeadline;
  for (const auto key : {"method", "delta", "concentration", "draw", "order", "max-deviation"}) {
    section.OnlyWith(key, samples, "method = \"split\"");
    section.OnlyWith(key, !samples || !split.averages(), "split.variant = \"parallel\"");
  }
  for (const auto key : {"delta", "concentration", "draw"})
    section.OnlyWith(key, dirichlet, "method = \"lds\"");
  section.OnlyWith("order", dirichlet || deadline, "method = \"lds\" or \"deadline\"");
  section.OnlyWith("max-deviation", deadline, "method = \"deadline\"");
  return section.Finish();
}

}  // namespace tributary::inline experiment
