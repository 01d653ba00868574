#include "tributary/fleet/protocol/device_inbox.h"

#include <algorithm>
#include <utility>

namespace tributary::inline protocol {
namespace {

std::vector<Segment> UnitsOf(const DeviceWork& work, Array array) {
  const auto units = work.units(array);
  return {units.begin(), units.end()};
}

}  // namespace

DeviceJob::DeviceJob(const Assignment& assignment, const DeviceWork& work, std::size_t piece, TimePoint now)
    : assignment(assignment),
      parameters_grid(work.size(Array::kParameters), piece, UnitsOf(work, Array::kParameters)),
      statistics_grid(work.size(Array::kStatistics), piece, UnitsOf(work, Array::kStatistics)),
      begun(now),
      complete_at(now) {}

Status DeviceJob::Plan(const DeviceWork& work) {
  const auto units = work.units(Array::kParameters);
  if (units.empty()) return OkStatus();
  const auto pull = PlanOfEnds(assignment.pull_ends, units.size());
  const auto push_plan = PlanOfEnds(assignment.push_ends, units.size());
  if (!pull || !push_plan) return InvalidArgument("the coordinator plans transfers of another network");
  arrivals.emplace(units, work.units(Array::kStatistics), *pull);
  push = *push_plan;
  return OkStatus();
}

StatusOr<bool> DeviceInbox::Receive(const ToDevice& message, ByteSpan values) {
  {
    const MutexLock lock(mutex_);
    const auto* const verdict = std::get_if<Verdict>(&message);
    if (verdict == nullptr || !next_ || next_->assignment.ticket != verdict->ticket) {
      TRIBUTARY_RETURN_IF_ERROR(std::visit(
          [&](const auto& alternative) {
            mutex_.AssertHeld();
            return Take(alternative, values);
          },
          message));
      return !holding_;
    }
    next_.reset();
  }
  options_.say("too late to begin: " + std::get<Verdict>(message).reason);
  return true;
}

void DeviceInbox::LookAgain() {
  const MutexLock lock(mutex_);  // Threads that have checked the state are waiting now.
  changed_.NotifyAll();
}

Status DeviceInbox::Take(const Welcome& welcome, ByteSpan) {
  if (welcome_) return InvalidArgument("the coordinator welcomes a second time");
  welcome_ = welcome;
  changed_.NotifyAll();
  return OkStatus();
}

Status DeviceInbox::Take(const Pong& pong, ByteSpan) {
  pong_ = pong.nonce;
  changed_.NotifyAll();
  return OkStatus();
}

Status DeviceInbox::Take(const Assignment& assignment, ByteSpan) {
  if (!ready_ || next_ || (current_ && !verdict_ && !failed_))
    return InvalidArgument("the coordinator gives work out of turn");
  next_ = std::make_unique<DeviceJob>(assignment, work_, welcome_->piece_floats, clock_.Now());
  TRIBUTARY_RETURN_IF_ERROR(next_->Plan(work_));
  if (assignment.meeting) room_.Announce(*assignment.meeting);
  changed_.NotifyAll();
  return OkStatus();
}

Status DeviceInbox::Take(const Piece& piece, ByteSpan values) {
  DeviceJob* const job = JobOf(piece.ticket);
  if (job == nullptr) return OkStatus();  // It ended while its weights arrived.
  holding_ = job == next_.get() && current_ != nullptr;
  return holding_ ? OkStatus() : Place(*job, piece, values);  // The current job still uses the weights.
}

Status DeviceInbox::Place(DeviceJob& job, const Piece& piece, ByteSpan values) {
  if (piece.array != Array::kParameters && piece.array != Array::kStatistics) {
    return InvalidArgument("the coordinator sends an array that devices do not take");
  }
  if (job.assignment.without_weights)
    return InvalidArgument("the coordinator sends weights that it did not promise");
  const std::size_t count = values.size() / sizeof(float);
  if (values.size() % sizeof(float) != 0) return InvalidArgument("the coordinator sends part of a number");
  const bool parameters = piece.array == Array::kParameters;
  TRIBUTARY_RETURN_IF_ERROR((parameters ? job.parameters : job.statistics).Take(piece.offset, count));
  work_.Place(piece.array, piece.offset, values);
  const TimePoint now = clock_.Now();
  const bool segment =
      job.arrivals && job.arrivals->Take(parameters ? UpdatePart::kParameters : UpdatePart::kStatistics,
                                         piece.offset, count, values.size(), now);
  if (job.complete()) job.complete_at = now;
  const bool first = !std::exchange(job.weights_begun, true);
  // Nobody waits for a part of a segment.
  if (segment || first || job.complete()) changed_.NotifyAll();
  return OkStatus();
}

Status DeviceInbox::Take(const Samples& samples, ByteSpan values) {
  DeviceJob* const job = JobOf(samples.ticket);
  if (job == nullptr) return OkStatus();
  const std::size_t most = job->assignment.received * work_.record_bytes();
  if (job->weights_begun || job->samples.size() + values.size() > most) {
    return InvalidArgument("the coordinator sends samples that it did not promise");
  }
  job->samples.insert(job->samples.end(), values.begin(), values.end());
  return OkStatus();
}

Status DeviceInbox::Take(const Crossing& crossing, ByteSpan values) {
  DeviceJob* const job = JobOf(crossing.ticket);
  if (job == nullptr) return OkStatus();
  if (job->crossing != crossing.crossing || job->crossed.size() + values.size() > job->expected) {
    return InvalidArgument("the coordinator sends split data that was not expected");
  }
  job->crossed.insert(job->crossed.end(), values.begin(), values.end());
  if (job->crossed.size() == job->expected) changed_.NotifyAll();
  return OkStatus();
}

Status DeviceInbox::Take(const Verdict& verdict, ByteSpan) {
  if (current_ && current_->assignment.ticket == verdict.ticket) verdict_ = verdict;
  room_.LookAgain();
  changed_.NotifyAll();
  return OkStatus();
}

Status DeviceInbox::Take(const Farewell& farewell, ByteSpan) {
  farewell_ = farewell;
  changed_.NotifyAll();
  return OkStatus();
}

DeviceJob* DeviceInbox::JobOf(std::uint64_t ticket) {
  if (current_ && current_->assignment.ticket == ticket) return current_.get();
  return next_ && next_->assignment.ticket == ticket ? next_.get() : nullptr;
}

void DeviceInbox::Pause(MutexLock& lock) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(100);  // `stop` has no notification
  if (options_.stop) {
    changed_.WaitFor(lock, kBetweenLooks);
  } else {
    changed_.Wait(lock);
  }
}

StatusOr<bool> DeviceInbox::Await(MutexLock& lock, const std::function<bool()>& done) {
  while (!done()) {
    if (!options_.alive()) return Unavailable("the connection is broken");
    if (stopping()) return false;
    Pause(lock);
  }
  return true;
}

StatusOr<std::optional<Welcome>> DeviceInbox::AwaitWelcome() {
  MutexLock lock(mutex_);
  TRIBUTARY_ASSIGN_OR_RETURN(const bool came, Await(lock, [this] {
                               mutex_.AssertHeld();
                               return welcome_.has_value();
                             }));
  return came ? welcome_ : std::nullopt;
}

StatusOr<bool> DeviceInbox::AwaitPong(std::uint64_t nonce) {
  MutexLock lock(mutex_);
  return Await(lock, [this, nonce] {
    mutex_.AssertHeld();
    return pong_ == nonce;
  });
}

void DeviceInbox::AllowWork() {
  const MutexLock lock(mutex_);
  ready_ = true;
}

StatusOr<DeviceInbox::Work> DeviceInbox::AwaitWork() {
  MutexLock lock(mutex_);
  TRIBUTARY_ASSIGN_OR_RETURN(const bool came, Await(lock, [this] {
                               mutex_.AssertHeld();
                               return next_ != nullptr || farewell_.has_value();
                             }));
  if (!came) return Work{};
  if (!next_) return Work{nullptr, farewell_};
  current_ = std::move(next_);
  return Work{current_.get(), std::nullopt};
}

bool DeviceInbox::Ended() const { return verdict_.has_value() || !options_.alive() || stopping(); }

bool DeviceInbox::over() const {
  const MutexLock lock(mutex_);
  return Ended();
}

bool DeviceInbox::AwaitUnit(std::size_t unit) {
  MutexLock lock(mutex_);
  while (!current_->arrivals->HasUnit(unit)) {
    if (Ended()) return false;
    Pause(lock);
  }
  return true;
}

Status DeviceInbox::AwaitWeights() {
  MutexLock lock(mutex_);
  while (!current_->complete()) {
    if (Ended()) return Cancelled("the assignment is over");
    Pause(lock);
  }
  return OkStatus();
}

StatusOr<std::vector<std::byte>> DeviceInbox::AwaitSamples() {
  MutexLock lock(mutex_);
  while (!current_->weights_begun) {
    if (Ended()) return Cancelled("the assignment is over");
    Pause(lock);
  }
  return current_->samples;
}

void DeviceInbox::ExpectCrossing(int crossing, std::size_t bytes) {
  const MutexLock lock(mutex_);
  current_->crossing = crossing;
  current_->expected = bytes;
  current_->crossed.clear();
}

StatusOr<std::vector<std::byte>> DeviceInbox::AwaitCrossing(std::size_t bytes) {
  MutexLock lock(mutex_);
  while (current_->crossed.size() < bytes) {
    if (Ended()) return Cancelled("the assignment is over");
    Pause(lock);
  }
  current_->expected = 0;
  return std::move(current_->crossed);
}

void DeviceInbox::Describe(Answer& answer) const {
  const MutexLock lock(mutex_);
  const DeviceJob& job = *current_;
  const auto since = [&](TimePoint time) { return ToSeconds(time - job.begun); };
  answer.ticket = job.assignment.ticket;
  answer.pull_seconds = since(job.complete_at);
  const bool trained = std::holds_alternative<TrainAssignment>(job.assignment.work);
  if (!job.arrivals || !trained || job.assignment.meeting) return;
  answer.first_piece_seconds = since(job.arrivals->first().value_or(job.begun));
  for (const auto& arrival : job.arrivals->all())
    answer.arrival_seconds.push_back(std::max(0.0, since(arrival.last)));
  if (job.sender) answer.queued = job.sender->queued();
}

void DeviceInbox::MarkFailed() {
  const MutexLock lock(mutex_);
  failed_ = true;
}

StatusOr<bool> DeviceInbox::AwaitVerdict() {
  MutexLock lock(mutex_);
  return Await(lock, [this] {
    mutex_.AssertHeld();
    return verdict_.has_value();
  });
}

std::optional<Verdict> DeviceInbox::verdict() const {
  const MutexLock lock(mutex_);
  return verdict_;
}

bool DeviceInbox::EndJob() {
  std::unique_ptr<DeviceJob> job;  // Destroyed without the lock: its sender may be busy.
  const MutexLock lock(mutex_);
  job = std::move(current_);
  verdict_.reset();
  failed_ = false;
  return std::exchange(holding_, false);
}

void DeviceInbox::DropJob() {
  std::unique_ptr<DeviceJob> job;  // Destroyed without the lock.
  const MutexLock lock(mutex_);
  job = std::move(current_);
}

}  // namespace tributary::inline protocol
