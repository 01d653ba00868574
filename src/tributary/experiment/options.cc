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
          .read = [](const Value&, const Spot&) { return OkStatus(); },  // checked before anything else
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
    return {
        std::string(kPlainName),
        "\"type\": \"string\", \"maxLength\": 64, \"pattern\": \"^[A-Za-z0-9_-]*[A-Za-z_-][A-Za-z0-9_-]*$\", "
        "\"examples\": [\"my-name\"]"};
  };
  return form;
}

OptionList ExperimentKeys(Experiment& e, Against& against, const OptionContext& context) {
  OptionList list;
  list.Add(kSchemaKey, SchemaForm(), "Version of the file format.").Required();
  list.Add("experiment", Section(&e.goal, [&e] { return GoalKeys(e.goal); }),
           "Name, seed and end of the run.");
  list.Add("model", Section(&e.model, [&e, &context] { return ModelKeys(e.model, context); }),
           "The network that is trained.");
  list.Add("data", Section(&e.data, [&e, &context] { return DataKeys(e.data, context); }),
           "The data set, and how it is distributed over the devices.");
  list.Add("fleet", Section(&e.fleet, [&e, &context] { return FleetKeys(e, context); }),
           "The devices and the parameter servers.");
  list.Add("train", Section(&e.train, [&e] { return TrainKeys(e); }),
           "The training method and its optimiser.");
  list.Add("transfers", Section(&e.transfers, [&e] { return TransferKeys(e.transfers); }),
           "How weights and updates are cut into messages that overlap with computation.");
  list.Add("compression",
           Section(&e.compression, [&e, &context] { return CompressionKeys(e.compression, context); }),
           "How updates are compressed.");
  list.Add("stream", Section(&e.stream, [&e, &context] { return StreamKeys(e, context); }),
           "Samples that arrive over time.");
  list.Add("injection", Section(&e.injection, [&e] { return InjectionKeys(e); }),
           "Devices that share samples with all others.");
  list.Add("split", Section(&e.split, [&e] { return SplitKeys(e); }),
           "Split learning: first layers on the devices, the rest on the coordinator.")
      .WrittenIf([&e] { return e.train.method == Method::kSplit; });
  list.Add("sampling", Section(&e.sampling, [&e, &context] { return SamplingKeys(e, context); }),
           "Which devices give samples to each global batch of split learning.")
      .WrittenIf([&e] { return e.train.method == Method::kSplit && !e.split.averages(); });
  list.Add("dropout", Section(&e.dropout, [&e, &context] { return DropoutKeys(e, context); }),
           "Devices that train a sub-network.");
  list.Add("gossip", Section(&e.gossip, [&e, &context] { return GossipKeys(e, context); }),
           "Devices that average their models with their neighbours, without a coordinator in between.")
      .WrittenIf([&e] { return e.train.method == Method::kGossip; });
  list.Add("aggregation", Section(&e.aggregation, [&e, &context] { return AggregationKeys(e, context); }),
           "How the updates of a round are aggregated.")
      .WrittenIf([&e] { return e.aggregation.rule != AggregationRules().front(); });
  list.Add("disturbance",
           Sections(e.disturbances, kMostDisturbances,
                    [&e](Disturbance& disturbance) { return DisturbanceKeys(disturbance, e.fleet); }),
           "Faults that are injected, for scenarios.");
  ValueForm compared = Section(&against, [&against] { return AgainstKeys(against); });
  compared.optional = true;
  list.Add("against", std::move(compared),
           "The same experiment with other settings, trained as well and compared.")
      .WrittenIf([] { return false; });
  return list;
}

}  // namespace tributary::inline experiment
