// Kinds of layers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace slipstick {

enum class FeedForward { kDense, kExperts };
// Token mixer: full attention, sliding-window attention, a recurrence with a fixed-size state, or attention to the keys
// and values of an earlier layer.
enum class Mixer { kFullAttention, kWindow, kRecurrence, kSharedKv, kSharedKvWindow };
constexpr bool IsLocal(Mixer mixer) { return mixer == Mixer::kWindow || mixer == Mixer::kSharedKvWindow; }
constexpr bool SharesKv(Mixer mixer) { return mixer == Mixer::kSharedKv || mixer == Mixer::kSharedKvWindow; }

struct LayerKind {
  FeedForward feed_forward = FeedForward::kDense;
  Mixer mixer = Mixer::kFullAttention;
  friend constexpr bool operator==(LayerKind, LayerKind) = default;
};

inline constexpr std::array kFeedForwards{FeedForward::kDense, FeedForward::kExperts};
inline constexpr std::array kMixers{Mixer::kFullAttention, Mixer::kWindow, Mixer::kRecurrence, Mixer::kSharedKv,
                                    Mixer::kSharedKvWindow};

constexpr std::size_t IndexOf(LayerKind kind) {
  return static_cast<std::size_t>(kind.mixer) * kFeedForwards.size() + static_cast<std::size_t>(kind.feed_forward);
}

// All kinds; loops over kinds use this list.
inline constexpr auto kLayerKinds = [] {
  std::array<LayerKind, kFeedForwards.size() * kMixers.size()> kinds{};
  for (const Mixer mixer : kMixers) {
    for (const FeedForward feed_forward : kFeedForwards) kinds[IndexOf({feed_forward, mixer})] = {feed_forward, mixer};
  }
  return kinds;
}();

// Name in formulas and figure paths, such as "window_expert_layer".
constexpr std::string_view NameOf(LayerKind kind) {
  const bool experts = kind.feed_forward == FeedForward::kExperts;
  switch (kind.mixer) {
    case Mixer::kFullAttention:
      return experts ? "expert_layer" : "layer";
    case Mixer::kWindow:
      return experts ? "window_expert_layer" : "window_layer";
    case Mixer::kRecurrence:
      return experts ? "recurrent_expert_layer" : "recurrent_layer";
    case Mixer::kSharedKv:
      return experts ? "shared_kv_expert_layer" : "shared_kv_layer";
    case Mixer::kSharedKvWindow:
      return experts ? "shared_kv_window_expert_layer" : "shared_kv_window_layer";
  }
  return "";
}

static_assert(
    [] {
      for (const LayerKind kind : kLayerKinds) {
        const auto shares_name = [kind](LayerKind other) { return NameOf(other) == NameOf(kind); };
        if (NameOf(kind).empty() || std::count_if(kLayerKinds.begin(), kLayerKinds.end(), shares_name) != 1)
          return false;
        if (std::count(kLayerKinds.begin(), kLayerKinds.end(), kind) != 1 || !(kLayerKinds[IndexOf(kind)] == kind))
          return false;
      }
      return true;
    }(),
    "every kind of layer has its own index and its own name");

// One value per kind.
template <class T>
class ByKind {
 public:
  constexpr T& operator[](LayerKind kind) { return values_[IndexOf(kind)]; }
  constexpr const T& operator[](LayerKind kind) const { return values_[IndexOf(kind)]; }
  [[nodiscard]] constexpr auto begin() const { return values_.begin(); }
  [[nodiscard]] constexpr auto end() const { return values_.end(); }
  friend bool operator==(const ByKind&, const ByKind&) = default;

 private:
  std::array<T, kLayerKinds.size()> values_{};
};

}  // namespace slipstick
