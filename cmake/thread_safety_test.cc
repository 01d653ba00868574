// Compiled by tests where the compiler is Clang: as it is it must compile, and with one of the macros it must not.
#include <utility>

#include "tributary/base/mutex.h"

namespace tributary {
namespace {

class Account {
 public:
  int Balance() {
#ifndef TRIBUTARY_READ_WITHOUT_MUTEX
    const MutexLock lock(mutex_);
#endif
    return balance_;
  }

  void Deposit(int amount) {
    MutexLock lock(mutex_);
#ifdef TRIBUTARY_CALL_WITHOUT_MUTEX
    lock.Unlock();
#endif
    Add(amount);
    changed_.NotifyAll();
  }

  int WaitForDeposit() {
    MutexLock lock(mutex_);
    const WaitDeadline deadline = DeadlineIn(std::chrono::seconds(1));
    while (balance_ == 0 && changed_.WaitUntil(lock, deadline)) {
    }
    const int balance = std::exchange(balance_, 0);
    lock.Unlock();
    return balance;
  }

 private:
  void Add(int amount) TRIBUTARY_REQUIRES(mutex_) { balance_ += amount; }

  Mutex mutex_;
  Condition changed_;
  int balance_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
};

}  // namespace
}  // namespace tributary

int main() {
  tributary::Account account;
  account.Deposit(1);
  return account.Balance() - account.WaitForDeposit();
}
