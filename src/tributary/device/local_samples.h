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

// What a real device trains on: samples in memory, its own or its part of the experiment's data set, or a stream; and
// the samples that devices share. One thread at a time.
class LocalSamples {
 public:
  LocalSamples() = default;
  // Data come from the owner's folder (data/load.h); or, without one, are the device's part of the experiment's data set,
  // which must then be one that is known by name: a coordinator does not choose which files of this machine are read.
  // Streams keep what must survive the process in `state`. Options and clock must outlive what is returned.
  static StatusOr<LocalSamples> Open(const DeviceRuntimeOptions& options, const Welcome& welcome,
                                     const Experiment& experiment, const std::filesystem::path& state,
                                     const Clock& clock);

  // In memory; of a broker's stream the last round's samples, which are all there are to look at.
  const LocalData& data() const { return data_; }
  bool streams() const { return source_ != nullptr; }
  // What a sample takes that devices share; 0 where none are.
  std::size_t record_bytes() const { return record_bytes_; }

  // Of a stream: everything below `from` is in the model, and positions below `kept` are not requested again.
  Status Seek(std::int64_t from, std::int64_t kept);
  // A batch without any content, to measure with where data() is empty because samples come from a broker.
  StatusOr<std::optional<RoundSamples>> BlankBatch(std::size_t count) const;

  struct Taken {
    std::optional<RoundSamples> samples;  // nothing where the device reads on in data()
    std::optional<StreamUse> stream;      // how they came
    std::vector<std::byte> shared;        // what the device shares, as records
  };
  // The samples of an assignment: waits for a stream, and for what other devices have shared.
  StatusOr<Taken> Take(const TrainAssignment& train, const Assignment& assignment, Transfers& transfers);
  // The round is over, for which these were taken.
  void Used(Taken taken);

 private:
  StatusOr<std::vector<StreamSample>> TakeFromStream(const TrainAssignment& train,
                                                     const Assignment& assignment, const Transfers& transfers,
                                                     StreamUse& use);
  // The one batch of an assignment, from the device's own data.
  std::vector<StreamSample> TakeOwn(const TrainAssignment& train) const;
  // Adds what other devices have sent; the first of these are what this one sends, as records.
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
  bool broker_ = false;  // the stream's samples are not those of data_
  std::size_t record_bytes_ = 0;
};

}  // namespace tributary::inline device
