#include "tributary/experiment/sections.h"

namespace tributary {

Status ReadSampling(Section section, const Training& train, const SplitChoice& split,
                    const Extensions& extensions, SamplingOptions& sampling) {
  const auto names = [](const auto& all) {
    std::vector<std::string> list;
    for (const auto one : all) list.emplace_back(NameOf(one));
    return list;
  };
  std::string method(NameOf(sampling.method)), draw(NameOf(sampling.draw)), order(NameOf(sampling.order));
  std::vector<std::string> methods = names(kSamplingMethods);
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
  section.ReadName("draw", "draw", names(kSamplingDraws), draw);
  if (const auto parsed = ParseSamplingDraw(draw); parsed.ok()) sampling.draw = *parsed;
  section.ReadName("order", "order", names(kStepOrders), order);
  if (const auto parsed = ParseStepOrder(order); parsed.ok()) sampling.order = *parsed;
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

}  // namespace tributary
