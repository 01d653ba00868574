#include "tributary/experiment/options.h"

#include <algorithm>
#include <cctype>

#include "tributary/experiment/forms.h"

namespace tributary::inline experiment {
namespace {

constexpr std::size_t kMostDisturbances = 1000;
constexpr std::size_t kMostSettings = 100;

OptionList AgainstKeys(Against& against) {
  OptionList list;
  list.Add(kNameKey, PlainName(against.name), "Name of the comparison: its run is called NAME-THIS.")
      .Required();
  list.Add("set",
           Texts(against.settings, "settings, like [\"compression=\", \"train.batch=64\"]", kMostSettings),
           "What is different, as for --set.")
      .Required("; it says what is different");
  return list;
}

ValueForm SchemaForm() {
  static const std::int64_t kField = kSchema;
  return {.field = &kField,
          .read = [](const Value&, const Spot&) { return OkStatus(); },  // CheckSchema has checked it
          .write = [] { return std::to_string(kSchema); },
          .allowed = []() -> Allowed {
            return {std::to_string(kSchema), "\"const\": " + std::to_string(kSchema)};
          }};
}

}  // namespace

bool IsPlainName(std::string_view name) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), plain) &&
         !std::all_of(name.begin(), name.end(), digit);
}

ValueForm PlainName(std::string& field) {
  ValueForm form = Text(field);
  form.read = [&field, read = form.read](const Value& value, const Spot& spot) {
    TRIBUTARY_RETURN_IF_ERROR(read(value, spot));
    return IsPlainName(field) ? OkStatus() : spot.RefuseAs(value, kPlainName);
  };
  form.allowed = []() -> Allowed {
    return {std::string(kPlainName),
            "\"type\": \"string\", \"maxLength\": 64, \"pattern\": "
            "\"^[A-Za-z0-9_-]*[A-Za-z_-][A-Za-z0-9_-]*$\", \"examples\": [\"my-name\"]"};
  };
  return form;
}

OptionList ExperimentKeys(Experiment& e, Against& against, const OptionContext& context) {
  OptionList list;
  list.Add(kSchemaKey, SchemaForm(), "Version of the file format.").Required();
  const auto add = [&](std::string_view key, const void* field, SectionKeys* keys,
                       std::string_view doc) -> Option& {
    return list.Add(key, Section(field, [&e, &context, keys] { return keys(e, context); }), doc);
  };
  const auto method = [&e](Method chosen) { return [&e, chosen] { return e.train.method == chosen; }; };
  add("experiment", &e.goal, GoalKeys, "Name, seed and end of the run.");
  add("model", &e.model, ModelKeys, "The network that is trained.");
  add("data", &e.data, DataKeys, "The data set, and how it is distributed over the devices.");
  add("fleet", &e.fleet, FleetKeys, "The devices and the parameter servers.");
  add("train", &e.train, TrainKeys, "The training method and its optimiser.");
  add("transfers", &e.transfers, TransferKeys,
      "How weights and updates are divided into messages that overlap with computation.");
  add("compression", &e.compression, CompressionKeys, "How updates are compressed.");
  add("stream", &e.stream, StreamKeys, "Samples that arrive over time.");
  add("injection", &e.injection, InjectionKeys, "Devices that share samples with all others.");
  add("split", &e.split, SplitKeys,
      "Split learning: first layers on the devices, the rest on the coordinator.")
      .WrittenIf(method(Method::kSplit));
  add("sampling", &e.sampling, SamplingKeys,
      "Which devices give samples to each global batch of split learning.")
      .WrittenIf([&e] { return e.global_batch(); });
  add("dropout", &e.dropout, DropoutKeys, "Devices that train a sub-network.");
  add("gossip", &e.gossip, GossipKeys,
      "Devices that average their models with their neighbours, without a coordinator.")
      .WrittenIf(method(Method::kGossip));
  add("aggregation", &e.aggregation, AggregationKeys, "How the updates of a round are aggregated.")
      .WrittenIf([&e] { return e.aggregation.rule != AggregationRules().front(); });
  add("trust", &e.trust, TrustKeys, "How much of a round one device may decide.").WrittenIf([&e] {
    return e.trust != TrustOptions{};
  });
  list.Add("disturbance",
           Sections(e.disturbances, kMostDisturbances,
                    [&e](Disturbance& disturbance) { return DisturbanceKeys(disturbance, e); }),
           "Faults that are injected, for scenarios.");
  ValueForm compared = Section(&against, [&against] { return AgainstKeys(against); });
  compared.optional = true;
  list.Add("against", std::move(compared),
           "The same experiment with other settings, trained as well and compared.")
      .WrittenIf([] { return false; });
  return list;
}

}  // namespace tributary::inline experiment
