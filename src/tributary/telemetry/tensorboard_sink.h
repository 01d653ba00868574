#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tributary/base/status.h"
#include "tributary/base/wall_clock.h"
#include "tributary/telemetry/round_tally.h"
#include "tributary/telemetry/sink.h"
#include "tributary/telemetry/tensorboard_file.h"

namespace tributary {

// A run as TensorBoard shows it. Steps are rounds. Of each round: train_loss, round_seconds, applied, bytes_down, bytes_up,
// bytes_total (of all rounds so far, both ways), waiting_share, and where they have a meaning buffered, overlap and kept
// (round_tally.h); of each evaluation accuracy and loss, or accuracy_on_devices and loss_on_devices; and the experiment as
// a text.
//
// A run on a virtual clock has everything twice: in `folder` with the times at which it was computed, and in
// `folder`/virtual-time with those of the virtual clock, counted from the run's start. There TensorBoard's "relative" axis
// is virtual time.
class TensorBoardSink : public EventSink {
 public:
  struct Options {
    WallClock wall_clock = SystemWallClock();
    std::string experiment = {};  // Its file's text; empty for none.
    bool virtual_time = false;
  };

  static StatusOr<std::unique_ptr<TensorBoardSink>> Create(const std::filesystem::path& folder,
                                                           Options options);

  void Write(const Event& event) override;
  // The first failure since Create, if there was one. Nothing may be written afterwards.
  Status Close();

 private:
  TensorBoardSink(Options options, std::unique_ptr<TensorBoardFile> real,
                  std::unique_ptr<TensorBoardFile> virtual_time)
      : options_(std::move(options)),
        started_(options_.wall_clock()),
        real_(std::move(real)),
        virtual_(std::move(virtual_time)) {}

  void Scalars(const Event& event, RoundId round, std::span<const TensorBoardScalar> scalars);
  void On(const Event& event, const RoundFinished& round);
  void On(const Event& event, const Evaluated& evaluated);

  const Options options_;
  const WallTime started_;
  std::unique_ptr<TensorBoardFile> real_;
  std::unique_ptr<TensorBoardFile> virtual_;  // Where there is a virtual clock.
  RoundTally tally_;
  bool streams_ = false;  // Whether samples have been seen in buffers.
  Bytes bytes_;
};

}  // namespace tributary
