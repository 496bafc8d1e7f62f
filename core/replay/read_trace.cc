#include "core/replay/read_trace.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/base/units.h"
#include "core/replay/trace_rows.h"

namespace slipstick {
namespace {

constexpr double kMostTokens = 1 << 28, kLongestTime = 1e10;  // s
constexpr std::size_t kMostIssues = 10;

struct Format {
  std::string_view name;
  Seconds time_unit;
  Count block;  // in tokens, unless the lengths imply another size
};
constexpr Format kMooncake{"mooncake", 1 * kMs, 512}, kBailian{"bailian", 1 * kS, 16}, kAgent{"agent", 1 * kS, 64},
    kBenchmark{"benchmark", 1 * kS, 0};

const Format* FormatOf(const TraceRow& row) {
  if (row.Find(TraceKey::kInputLens) != nullptr) return &kBenchmark;
  if (row.Find(TraceKey::kRequests) != nullptr) return &kAgent;
  if (row.Find(TraceKey::kInputLength) == nullptr) return nullptr;
  return row.Find(TraceKey::kChatId) != nullptr ? &kBailian : &kMooncake;
}

// Whether every prompt has room for its blocks of this size. Its last block may be partly filled.
bool Holds(Count block, const std::vector<TracedRequest>& requests) {
  return std::all_of(requests.begin(), requests.end(), [block](const TracedRequest& one) {
    return static_cast<Count>(one.blocks.size()) <= (one.prompt + block - 1) / block;
  });
}

// The largest power of two that is possible. Twice the real size would leave prompts of three blocks too many blocks.
Count LargestThatHolds(const std::vector<TracedRequest>& requests) {
  Count block = std::bit_floor(static_cast<std::uint64_t>(kMostTokens));
  while (block > 1 && !Holds(block, requests)) block /= 2;
  return block;
}

// Whether the prompts have as many blocks of this size as their lengths say, the last one counted or not; and their
// numbers differ enough to tell.
bool Explains(Count block, const std::vector<TracedRequest>& requests) {
  constexpr std::size_t kTelling = 3;
  std::unordered_set<std::size_t> numbers;
  for (const TracedRequest& one : requests) {
    if (one.blocks.empty()) continue;
    const auto whole = static_cast<std::size_t>(one.prompt / block), number = one.blocks.size();
    if (number != whole && number != whole + 1) return false;
    numbers.insert(number);
  }
  return numbers.size() >= kTelling;
}

class TraceReader {
 public:
  // Adds a row; returns whether to continue.
  bool Add(const TraceRow& row) {
    const Format* format = FormatOf(row);
    if (format_ == nullptr) format_ = format;
    if (format == nullptr) {
      Fault(row,
            "No request: it has neither input_length, nor input_lens, nor requests. Texts without token counts need "
            "a tokenizer and are not read");
    } else if (format != format_) {
      Fault(row, "Another format than the lines before");
    } else if (format == &kBenchmark) {
      AddResult(row);
    } else if (format == &kAgent) {
      AddConversation(row);
    } else {
      AddRequest(row);
    }
    return issues_.size() < kMostIssues;
  }

  Result<RequestTrace> Finish(Issues faults) {
    issues_.insert(issues_.end(), faults.begin(), faults.end());
    if (issues_.empty() && trace_.requests.empty()) issues_.push_back({"", "No request in this file"});
    if (issues_.empty()) SetTimes();
    if (issues_.empty()) SetBlocks();
    if (issues_.empty()) NoteDeltas();
    if (!issues_.empty()) return std::move(issues_);
    trace_.format = format_->name;
    trace_.sessions = static_cast<Count>(sessions_.size());
    if (without_output_ > 0)
      trace_.notes.push_back(std::to_string(without_output_) + " requests without an output token are left out");
    return std::move(trace_);
  }

 private:
  void Fault(const TraceRow& row, std::string message) { issues_.push_back({row.place, std::move(message)}); }

  // A number from `least` to `most`; 0 and an issue if it is not one.
  double Number(const TraceRow& row, TraceKey key, std::string_view name, double least, double most) {
    const TraceValue* value = row.Find(key);
    const bool is_number = value != nullptr && value->kind == TraceValue::Kind::kNumber;
    if (is_number && value->number >= least && value->number <= most) return value->number;
    Fault(row, std::string(name) + (value == nullptr ? " is missing" : ": enter a number in its range"));
    return 0;
  }
  Count Whole(const TraceRow& row, TraceKey key, std::string_view name, double least) {
    const double number = Number(row, key, name, least, kMostTokens);
    if (number == std::floor(number)) return static_cast<Count>(number);
    Fault(row, std::string(name) + ": enter a whole number of tokens");
    return 0;
  }

  // Whether the member is a list, or absent.
  bool IsList(const TraceRow& row, TraceKey key, std::string_view name) {
    const TraceValue* value = row.Find(key);
    if (value == nullptr || value->kind == TraceValue::Kind::kList) return true;
    Fault(row, std::string(name) + ": enter a list of numbers");
    return false;
  }

  // Requests without output, such as failed ones, are counted and left out.
  void Keep(const TraceRow& row, TracedRequest request) {
    if (request.output < 1) {
      ++without_output_;
      return;
    }
    places_.push_back(row.place);
    trace_.requests.push_back(std::move(request));
  }

  // Numbers the blocks in the order of their first use.
  std::vector<std::uint32_t> Blocks(const TraceRow& row) {
    std::vector<std::uint32_t> blocks;
    if (!IsList(row, TraceKey::kHashIds, "hash_ids")) return blocks;
    blocks.reserve(row.hash_ids.size());
    for (const std::uint64_t id : row.hash_ids) {
      const auto next = static_cast<std::uint32_t>(first_block_ + blocks_.size());
      blocks.push_back(blocks_.try_emplace(id, next).first->second);
    }
    return blocks;
  }

  Count Session(const std::string& id) {
    return sessions_.try_emplace(id, static_cast<Count>(sessions_.size())).first->second;
  }

  void AddRequest(const TraceRow& row) {
    TracedRequest request;
    request.prompt = Whole(row, TraceKey::kInputLength, "input_length", 1);
    request.output = Whole(row, TraceKey::kOutputLength, "output_length", 0);
    const double unit = format_->time_unit / (1 * kS);
    if (row.Find(TraceKey::kTimestamp) != nullptr)
      request.arrival = Number(row, TraceKey::kTimestamp, "timestamp", 0, kLongestTime / unit) * format_->time_unit;
    for (const auto& [key, name] : {std::pair(TraceKey::kDelay, "delay"), std::pair(TraceKey::kDelayMs, "delay_ms")}) {
      if (row.Find(key) != nullptr) request.delay = Number(row, key, name, 0, kLongestTime / unit) * (1 * kMs);
    }
    if (const TraceValue* session = row.Find(TraceKey::kSessionId)) request.session = Session(session->text);
    if (const TraceValue* chat = row.Find(TraceKey::kChatId)) {
      const TraceValue* parent = row.Find(TraceKey::kParentChatId);
      const auto known = parent == nullptr ? chats_.end() : chats_.find(parent->text);
      request.session = known == chats_.end() ? Session(chat->text) : known->second;
      chats_[chat->text] = request.session;
    }
    request.blocks = Blocks(row);
    Keep(row, std::move(request));
  }

  void AddConversation(const TraceRow& row) {
    const TraceValue* scope = row.Find(TraceKey::kHashScope);
    if (scope == nullptr || scope->text != "global") {  // numbers of another conversation are other blocks
      first_block_ += blocks_.size();
      blocks_.clear();
    }
    if (row.Find(TraceKey::kBlockSize) != nullptr) block_ = Whole(row, TraceKey::kBlockSize, "block_size", 1);
    const Count session = Session(std::to_string(sessions_.size()));
    for (const TraceRow& one : row.requests) {
      if (one.Find(TraceKey::kIn) == nullptr) {
        ++without_tokens_;
        continue;
      }
      TracedRequest request;
      request.arrival = Number(one, TraceKey::kT, "t", 0, kLongestTime) * format_->time_unit;
      request.prompt = Whole(one, TraceKey::kIn, "in", 1);
      request.output = Whole(one, TraceKey::kOut, "out", 0);
      request.session = session;
      request.blocks = Blocks(one);
      Keep(one, std::move(request));
    }
  }

  void AddResult(const TraceRow& row) {
    if (!IsList(row, TraceKey::kInputLens, "input_lens") || !IsList(row, TraceKey::kOutputLens, "output_lens") ||
        !IsList(row, TraceKey::kStartTimes, "start_times"))
      return;
    const TraceValue *prompts = row.Find(TraceKey::kInputLens), *outputs = row.Find(TraceKey::kOutputLens),
                     *starts = row.Find(TraceKey::kStartTimes);
    if (outputs == nullptr || outputs->list.size() != prompts->list.size() ||
        (starts != nullptr && starts->list.size() != prompts->list.size())) {
      Fault(row, "input_lens, output_lens and start_times: enter lists of the same length");
      return;
    }
    if (!trace_.requests.empty()) {
      if (!has_more_results_)
        trace_.notes.push_back("Only the first benchmark of the file is played; the others are left out");
      has_more_results_ = true;
      return;
    }
    if (prompts->list.size() > kMostTraceRows) {
      Fault(row, "Too many requests: at most " + std::to_string(kMostTraceRows));
      return;
    }
    for (std::size_t i = 0; i < prompts->list.size(); ++i) {
      const double prompt = prompts->list[i], output = outputs->list[i];
      if (!(prompt >= 1 && prompt <= kMostTokens && output >= 0 && output <= kMostTokens)) {
        Fault(row, "input_lens, output_lens: number " + std::to_string(i + 1) + " is out of range");
        return;
      }
      TracedRequest request;
      request.prompt = static_cast<Count>(prompt);
      request.output = static_cast<Count>(output);
      if (starts != nullptr) request.arrival = starts->list[i] * format_->time_unit;
      Keep(row, std::move(request));
    }
    if (const TraceValue* rate = row.Find(TraceKey::kRequestRate);
        rate != nullptr && rate->number > 0 && std::isfinite(rate->number))
      trace_.requests_per_s = rate->number;
    if (const TraceValue* most = row.Find(TraceKey::kMaxConcurrency);
        starts == nullptr && most != nullptr && most->number >= 1 &&
        most->number <= static_cast<double>(kMostTraceRows))
      trace_.most_at_once = static_cast<Count>(most->number);
  }

  // Sets times relative to the first request. Either all requests must have one, or none.
  void SetTimes() {
    std::vector<TracedRequest>& requests = trace_.requests;
    Seconds first = Seconds::FromBase(std::numeric_limits<double>::infinity());
    std::vector<bool> has_turn(sessions_.size(), false);
    const std::string* without = nullptr;
    std::vector<TracedRequest> ordered;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      TracedRequest& one = requests[i];
      const bool follows = one.session >= 0 && has_turn[static_cast<std::size_t>(one.session)];
      if (one.session >= 0) has_turn[static_cast<std::size_t>(one.session)] = true;
      if (one.arrival) {
        first = min(first, *one.arrival);
      } else if (!(follows && one.delay) && without == nullptr) {
        without = &places_[i];
      }
      trace_.has_times = trace_.has_times || one.arrival.has_value();
    }
    if (trace_.has_times && without != nullptr) {
      issues_.push_back({*without, "timestamp is missing, and other requests have one"});
      return;
    }
    for (TracedRequest& one : requests) {
      if (one.arrival) one.arrival = *one.arrival - first;
    }
    // Requests that follow a turn must stay behind it.
    std::vector<Seconds> at(requests.size());
    std::vector<Seconds> latest(sessions_.size());
    std::vector<std::size_t> order(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      order[i] = i;
      at[i] = requests[i].arrival.value_or(Seconds{});
      if (requests[i].session < 0) continue;
      Seconds& before = latest[static_cast<std::size_t>(requests[i].session)];
      if (!requests[i].arrival) at[i] = before;
      before = max(before, at[i]);
    }
    std::stable_sort(order.begin(), order.end(), [&at](std::size_t a, std::size_t b) { return at[a] < at[b]; });
    std::vector<std::string> places;
    for (const std::size_t i : order) {
      ordered.push_back(std::move(requests[i]));
      places.push_back(std::move(places_[i]));
    }
    requests = std::move(ordered);
    places_ = std::move(places);
    if (without_tokens_ > 0)
      trace_.notes.push_back(std::to_string(without_tokens_) +
                             " entries that are no request, such as sub-agents, are left out");
  }

  // A turn's prompt holds all that was said before. Players such as AIPerf add up what each turn says.
  void NoteDeltas() {
    std::vector<const TracedRequest*> before(sessions_.size(), nullptr);
    std::size_t turns = 0, shorter = 0;
    for (const TracedRequest& one : trace_.requests) {
      if (one.session < 0) continue;
      const TracedRequest*& last = before[static_cast<std::size_t>(one.session)];
      if (last != nullptr) ++turns;
      if (last != nullptr && one.prompt < last->prompt + last->output) ++shorter;
      last = &one;
    }
    if (2 * shorter <= turns) return;
    trace_.notes.push_back("Each turn's prompt is taken as a whole, and " + std::to_string(shorter) + " of " +
                           std::to_string(turns) +
                           " later turns are shorter than the prompt and the answer before them: if the file has only "
                           "what each turn adds, add up the turns before them");
  }

  void SetBlocks() {
    std::size_t most = 0;
    for (const TracedRequest& one : trace_.requests) most = std::max(most, one.blocks.size());
    if (most == 0) return;
    trace_.block = block_ > 0 ? block_ : GuessedBlock(most);
    if (!Holds(trace_.block, trace_.requests)) {
      issues_.push_back(
          {"", "hash_ids: more blocks of " + std::to_string(trace_.block) + " tokens than the prompt has"});
      return;
    }
    if (block_ == 0 && trace_.block != format_->block) {
      trace_.notes.push_back("The file does not state the size of a block: " + std::to_string(trace_.block) +
                             " tokens, as the lengths and the numbers of hash_ids imply");
    }
    NoteCoverage();
  }

  // Lists that cover all of their prompts tell the size. Those of a shared prefix only do not, so the format's own
  // size comes first for them.
  [[nodiscard]] Count GuessedBlock(std::size_t most) const {
    constexpr std::size_t kTelling = 3;
    const Count largest = LargestThatHolds(trace_.requests), own = format_->block;
    if (Explains(largest, trace_.requests)) return largest;
    return most < kTelling || Holds(own, trace_.requests) ? own : largest;
  }

  void NoteCoverage() {
    double tokens = 0, covered = 0;
    std::size_t partly = 0;
    for (const TracedRequest& one : trace_.requests) {
      const auto blocks = static_cast<Count>(one.blocks.size());
      tokens += static_cast<double>(one.prompt);
      covered += static_cast<double>(std::min(one.prompt, blocks * trace_.block));
      if (blocks < one.prompt / trace_.block) ++partly;
    }
    if (2 * partly <= trace_.requests.size()) return;
    trace_.notes.push_back("hash_ids cover " + std::to_string(std::lround(100 * covered / tokens)) +
                           " % of the prompt tokens, in blocks of " + std::to_string(trace_.block) +
                           " tokens; the other tokens are shared with no request");
  }

  const Format* format_ = nullptr;
  RequestTrace trace_;
  std::vector<std::string> places_;  // places in the file of its requests
  Issues issues_;
  std::unordered_map<std::uint64_t, std::uint32_t> blocks_;
  std::size_t first_block_ = 0;
  std::unordered_map<std::string, Count> sessions_, chats_;
  Count block_ = 0, without_output_ = 0, without_tokens_ = 0;
  bool has_more_results_ = false;
};

}  // namespace

Result<RequestTrace> ReadTrace(std::string_view text) {
  if (text.size() > kLongestTrace) return Issues{{"", "Too long: at most 64 MB"}};
  TraceReader reader;
  Issues faults = ReadTraceRows(text, [&reader](const TraceRow& row) { return reader.Add(row); });
  return reader.Finish(std::move(faults));
}

}  // namespace slipstick
