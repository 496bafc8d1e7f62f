// A value made on first use and constant afterwards. If threads race to make it, all use the first one stored.
#pragma once

#include <atomic>

namespace slipstick {

template <class T>
class MadeOnce {
 public:
  MadeOnce() = default;
  MadeOnce(const MadeOnce&) = delete;
  MadeOnce& operator=(const MadeOnce&) = delete;
  ~MadeOnce() { delete value_.load(); }

  template <class Make>
  const T& Get(Make make) const {
    const T* there = value_.load();
    if (there != nullptr) return *there;
    const T* made = new T(make());
    if (value_.compare_exchange_strong(there, made)) return *made;
    delete made;
    return *there;
  }

 private:
  mutable std::atomic<const T*> value_ = nullptr;
};

}  // namespace slipstick
