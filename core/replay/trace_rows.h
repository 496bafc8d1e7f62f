// The objects of a file of requests, one after the other, with only the members that a format may have. Everything else
// in the file, such as texts and the times of tokens, is skipped and not stored.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/issue.h"

namespace slipstick {

enum class TraceKey {
  kTimestamp,
  kDelay,
  kDelayMs,
  kInputLength,
  kOutputLength,
  kSessionId,
  kChatId,
  kParentChatId,
  kRequestRate,
  kBlockSize,
  kT,
  kIn,
  kOut,
  kHashScope,
  kMaxConcurrency,
  kRequests,  // lists from here on
  kHashIds,
  kInputLens,
  kOutputLens,
  kStartTimes,
  kOther
};
inline constexpr std::size_t kTraceKeys = static_cast<std::size_t>(TraceKey::kOther);

struct TraceValue {
  enum class Kind { kNumber, kText, kList, kWrong } kind = Kind::kWrong;
  double number = 0;
  std::string text;          // digits of a whole number
  std::vector<double> list;  // of numbers
};

struct TraceRow {
  std::string place;  // "line 3"
  std::vector<std::pair<TraceKey, TraceValue>> values;
  std::vector<std::uint64_t> hash_ids;
  std::vector<TraceRow> requests;
  // Null if the row has no such member or it is null.
  [[nodiscard]] const TraceValue* Find(TraceKey key) const;
  TraceValue& operator[](TraceKey key);
};

inline constexpr std::size_t kMostTraceRows = 200'000;

// Reads an object per line, one object, or a list of objects. `on_row` returns whether to continue. Returns issues,
// each with its line, if the text is not JSON or has too many objects.
Issues ReadTraceRows(std::string_view text, const std::function<bool(TraceRow& row)>& on_row);

}  // namespace slipstick
