#include "tributary/device/update_compressor.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "tributary/base/check.h"
#include "tributary/base/file.h"
#include "tributary/device/round_files.h"
#include "tributary/model/safetensors.h"
#include "tributary/policy/compression/encoding.h"

namespace tributary::inline device {
namespace {

constexpr RoundFiles kRoundFiles{"compression-"};
constexpr std::string_view kName = "residual";

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
  memory.codec = {};
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
  if (after_.residual.size() != before_.residual.size())
    after_.residual = FlatBuffer(before_.residual.size());
  std::ranges::copy(before_.residual.span(), after_.residual.data());
  after_.codec = before_.codec;
  after_.round = RoundId{0};  // no round until End
  making_ = round;
  compressor_.emplace(options_, unit_sizes_, after_.residual.span(), after_.codec);
  compressor_->BeginStep();
  return found;
}

Status UpdateCompressor::Encode(std::size_t first_unit, std::size_t last_unit, const Update& update,
                                EncodedBlocks& out) {
  TRIBUTARY_CHECK(compressor_.has_value());
  const Segment run = model_->parameters.Run(first_unit, last_unit);
  // The compressor consumes the gradient only without a residual, and then nothing else needs it.
  const std::span<float> values(const_cast<float*>(update.parameters.data()) + run.offset, run.count);
  out = EncodedBlocks(longest_block_);
  return compressor_->Push(first_unit, last_unit, values, out);
}

void UpdateCompressor::End() {
  compressor_->EndStep();
  after_.codec = compressor_->state();
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
    TRIBUTARY_ASSIGN_OR_RETURN(const EncodedUnit unit,
                               EncodedUnit::Parse(bytes, block.count, options_.kind->form));
    unit.CopyTo(seen.subspan(block.offset, block.count));
  }
  return static_cast<std::int64_t>(blocks.bytes().size());
}

Status UpdateCompressor::Save(const std::filesystem::path& folder, RoundId keep) const {
  if (!remembers()) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(kRoundFiles.MakeFolder(folder));
  std::map<std::string, std::string> metadata;
  for (const auto& [name, number] : after_.codec) metadata["tributary." + name] = std::to_string(number);
  const std::vector<SafetensorsSource> tensors = {
      {std::string(kName), {static_cast<std::int64_t>(after_.residual.size())}, after_.residual.span()}};
  TRIBUTARY_RETURN_IF_ERROR(WriteSafetensors(kRoundFiles.PathOf(folder, after_.round), tensors, metadata));
  kRoundFiles.RemoveAllBut(folder, {after_.round, before_.round, keep});
  return OkStatus();
}

Status UpdateCompressor::Load(const std::filesystem::path& folder, RoundId round) {
  if (round.value == 0 || before_.round == round || after_.round == round) return OkStatus();
  const std::filesystem::path path = kRoundFiles.PathOf(folder, round);
  if (!std::filesystem::exists(path)) return OkStatus();
  constexpr std::int64_t kForTheRest = 1 << 20;
  const std::size_t size = NeedsResidual(options_) ? model_->parameters.size : 0;
  TRIBUTARY_ASSIGN_OR_RETURN(
      const auto bytes, ReadFile(path, Bytes{static_cast<std::int64_t>(size * sizeof(float)) + kForTheRest}));
  auto parsed = ParseSafetensors(bytes);
  if (!parsed.ok()) return std::move(parsed).status().WithContext(path.string());
  Memory memory;
  const std::unique_ptr<Codec> codec = MakeCodec(options_);
  for (const auto& [name, number] : codec->State()) {
    TRIBUTARY_ASSIGN_OR_RETURN(memory.codec[name], NumberIn(path, parsed->metadata, "tributary." + name));
  }
  const auto tensor = std::ranges::find(parsed->tensors, kName, &SafetensorsView::Tensor::name);
  const bool fits = tensor != parsed->tensors.end() && tensor->dtype == "F32" &&
                    tensor->bytes.size() == size * sizeof(float);
  if (fits) {
    memory.residual = FlatBuffer(size);
    if (size > 0) std::memcpy(memory.residual.data(), tensor->bytes.data(), tensor->bytes.size());
  }
  if (!fits || !CheckFinite(memory.residual.span()).ok() || !codec->Restore(memory.codec).ok()) {
    return Corrupt(path.string() + " does not hold the compression state of this network");
  }
  memory.round = round;
  before_ = std::move(memory);
  return OkStatus();
}

}  // namespace tributary::inline device
