#include "tributary/device/update_compressor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>

#include "tributary/base/check.h"
#include "tributary/base/file.h"
#include "tributary/model/safetensors.h"
#include "tributary/policy/compression/encoded_unit.h"

namespace tributary {
namespace {

constexpr std::string_view kPrefix = "compression-";
constexpr std::string_view kSuffix = ".safetensors";
constexpr std::string_view kName = "residual";

std::filesystem::path PathOf(const std::filesystem::path& folder, RoundId round) {
  return folder / (std::string(kPrefix) + std::to_string(round.value) + std::string(kSuffix));
}

// The round that a file of this name is of.
std::optional<RoundId> RoundOf(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  RoundId round;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), round.value);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(round) : std::nullopt;
}

}  // namespace

UpdateCompressor::UpdateCompressor(const CompressionOptions& options, std::shared_ptr<const Model> model,
                                   std::size_t longest_block)
    : options_(options), model_(std::move(model)), longest_block_(longest_block) {
  for (const Segment& unit : model_->parameters.units) unit_sizes_.push_back(unit.count);
  Forget(before_, RoundId{0});
}

void UpdateCompressor::Forget(Memory& memory, RoundId round) const {
  const std::size_t size = NeedsResidual(options_) ? model_->parameters.size : 0;
  if (memory.residual.size() != size) memory.residual = FlatBuffer(size);
  std::ranges::fill(memory.residual.span(), 0.0F);
  memory.adaptive = {};
  memory.round = round;
}

bool UpdateCompressor::Begin(RoundId round, RoundId from) {
  compressor_.reset();
  bool found = true;
  if (after_.round == from && from.value != 0) {
    std::swap(before_, after_);
  } else if (before_.round != from) {
    Forget(before_, from);
    found = from.value == 0;
  }
  if (after_.residual.size() != before_.residual.size()) after_.residual = FlatBuffer(before_.residual.size());
  std::ranges::copy(before_.residual.span(), after_.residual.data());
  after_.adaptive = before_.adaptive;
  after_.round = RoundId{0};  // It is nothing until it is ended.
  making_ = round;
  compressor_.emplace(options_, unit_sizes_, after_.residual.span(), after_.adaptive);
  compressor_->BeginStep();
  return found;
}

Status UpdateCompressor::Encode(std::size_t first_unit, std::size_t last_unit, const Update& update,
                                EncodedBlocks& out) {
  TRIBUTARY_CHECK(compressor_.has_value());
  const Segment run = model_->parameters.Run(first_unit, last_unit);
  // The compressor uses the gradient up only where nothing is remembered; then nobody else needs it either.
  const std::span<float> values(const_cast<float*>(update.parameters.data()) + run.offset, run.count);
  out = EncodedBlocks(longest_block_);
  return compressor_->Push(first_unit, last_unit, values, out);
}

void UpdateCompressor::End() {
  compressor_->EndStep();
  after_.adaptive = compressor_->state();
  after_.round = making_;
}

StatusOr<std::int64_t> UpdateCompressor::Apply(RoundId round, RoundId from, const Update& update,
                                               std::span<float> seen) {
  Begin(round, from);
  EncodedBlocks blocks;
  TRIBUTARY_RETURN_IF_ERROR(Encode(0, unit_sizes_.size() - 1, update, blocks));
  End();
  for (const EncodedBlocks::Block& block : blocks.blocks()) {
    ByteSpan bytes = blocks.bytes(block);
    TRIBUTARY_ASSIGN_OR_RETURN(const EncodedUnit unit, EncodedUnit::Parse(bytes, block.count));
    unit.CopyTo(seen.subspan(block.offset, block.count));
  }
  return static_cast<std::int64_t>(blocks.bytes().size());
}

Status UpdateCompressor::Save(const std::filesystem::path& folder, RoundId keep) const {
  if (!remembers()) return OkStatus();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return SystemError("make", folder, error.value());
  const AdaptiveState& adaptive = after_.adaptive;
  const std::map<std::string, std::string> metadata = {
      {"tributary.steps", std::to_string(adaptive.steps)},
      {"tributary.sparse_steps", std::to_string(adaptive.sparse_steps)},
      {"tributary.lost_share", std::to_string(std::bit_cast<std::uint64_t>(adaptive.lost_share))}};
  const std::vector<SafetensorsSource> tensors = {
      {std::string(kName), {static_cast<std::int64_t>(after_.residual.size())}, after_.residual.span()}};
  TRIBUTARY_RETURN_IF_ERROR(WriteSafetensors(PathOf(folder, after_.round), tensors, metadata));
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto round = RoundOf(entry.path().filename().string());
    const bool kept = !round || *round == after_.round || *round == before_.round || *round == keep;
    if (!kept) std::filesystem::remove(entry.path(), error);
  }
  return OkStatus();
}

Status UpdateCompressor::Load(const std::filesystem::path& folder, RoundId round) {
  if (round.value == 0 || before_.round == round || after_.round == round) return OkStatus();
  const std::filesystem::path path = PathOf(folder, round);
  if (!std::filesystem::exists(path)) return OkStatus();
  constexpr std::int64_t kForTheRest = 1 << 20;
  const std::size_t size = NeedsResidual(options_) ? model_->parameters.size : 0;
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes,
                             ReadFile(path, Bytes{static_cast<std::int64_t>(size * sizeof(float)) + kForTheRest}));
  auto parsed = ParseSafetensors(bytes);
  if (!parsed.ok()) return std::move(parsed).status().WithContext(path.string());
  const auto number = [&](const char* key, std::uint64_t& out) -> Status {
    const auto found = parsed->metadata.find(key);
    const std::string text = found == parsed->metadata.end() ? "" : found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return OkStatus();
    return Corrupt(path.string() + ": '" + key + "' is no number");
  };
  Memory memory;
  std::uint64_t lost_share = 0;
  TRIBUTARY_RETURN_IF_ERROR(number("tributary.steps", memory.adaptive.steps));
  TRIBUTARY_RETURN_IF_ERROR(number("tributary.sparse_steps", memory.adaptive.sparse_steps));
  TRIBUTARY_RETURN_IF_ERROR(number("tributary.lost_share", lost_share));
  memory.adaptive.lost_share = std::bit_cast<double>(lost_share);
  const auto tensor = std::ranges::find(parsed->tensors, kName, &SafetensorsView::Tensor::name);
  const bool fits = tensor != parsed->tensors.end() && tensor->dtype == "F32" && tensor->bytes.size() == size * sizeof(float);
  if (fits) {
    memory.residual = FlatBuffer(size);
    if (size > 0) std::memcpy(memory.residual.data(), tensor->bytes.data(), tensor->bytes.size());
  }
  if (!fits || !CheckFinite(memory.residual.span()).ok() ||
      !(memory.adaptive.lost_share >= 0 && memory.adaptive.lost_share <= 1)) {
    return Corrupt(path.string() + " does not hold what this network's compression remembers");
  }
  memory.round = round;
  before_ = std::move(memory);
  return OkStatus();
}

}  // namespace tributary
