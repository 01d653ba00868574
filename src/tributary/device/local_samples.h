#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/data/record.h"
#include "tributary/data/stream_source.h"
#include "tributary/device/local_data.h"
#include "tributary/device/round.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/device_work.h"

namespace tributary::inline device {

struct DeviceRuntimeOptions;

// Training samples of a real device: its own data, its part of the experiment's data set, or a stream; plus
// samples that devices share. Not thread-safe.
class LocalSamples {
 public:
  LocalSamples() = default;
  // Data come from the owner's folder (data/load.h); otherwise they are the device's part of a known data
  // set, since a coordinator must not choose files of this machine. Streams keep persistent state in `state`.
  // Options and clock must outlive the result.
  static StatusOr<LocalSamples> Open(const DeviceRuntimeOptions& options, const Welcome& welcome,
                                     const Experiment& experiment, const std::filesystem::path& state,
                                     const Clock& clock);

  // The samples in memory; for a broker's stream only those of the last round.
  const LocalData& data() const { return data_; }
  bool streams() const { return source_ != nullptr; }
  // Bytes of a shared sample; 0 if devices do not share samples.
  std::size_t record_bytes() const { return record_bytes_; }

  // For streams: samples below `from` are in the model, positions below `kept` are never requested again.
  Status Seek(std::int64_t from, std::int64_t kept);
  // An empty batch for timing, where data() is empty because samples come from a broker; otherwise nothing.
  StatusOr<std::optional<RoundSamples>> BlankBatch(std::size_t count) const;

  struct Taken {
    std::optional<RoundSamples> samples;  // empty: the next samples of data()
    std::optional<StreamUse> stream;      // statistics of the stream
    std::vector<std::byte> shared;        // records of samples to share
  };
  // The samples of an assignment. Waits for the stream and for samples that other devices share.
  StatusOr<Taken> Take(const TrainAssignment& train, const Assignment& assignment, Transfers& transfers);
  // Ends the round that these samples were taken for.
  void Used(Taken taken);

 private:
  StatusOr<std::vector<StreamSample>> TakeFromStream(const TrainAssignment& train,
                                                     const Assignment& assignment, const Transfers& transfers,
                                                     StreamUse& use);
  // The single batch of an assignment, from the device's own data.
  std::vector<StreamSample> TakeOwn(const TrainAssignment& train) const;
  // Appends samples of other devices; returns records of the first samples, which this device shares.
  StatusOr<std::vector<std::byte>> Share(const Assignment& assignment, Transfers& transfers,
                                         std::vector<StreamSample>& samples) const;
  StatusOr<std::shared_ptr<const Dataset>> DatasetOf(std::span<const StreamSample> samples) const;
  SampleFormat format() const;

  const DeviceRuntimeOptions* options_ = nullptr;
  const Clock* clock_ = nullptr;
  Welcome welcome_;
  std::shared_ptr<const Dataset> dataset_;
  LocalData data_;
  std::unique_ptr<StreamSource> source_;
  bool broker_ = false;  // samples come from a broker, not from data_
  std::size_t record_bytes_ = 0;
};

}  // namespace tributary::inline device
