#include "core/replay/trace_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/json.h"

namespace slipstick {
namespace {

constexpr std::string_view kNames[] = {"timestamp",
                                       "delay",
                                       "delay_ms",
                                       "input_length",
                                       "output_length",
                                       "session_id",
                                       "chat_id",
                                       "parent_chat_id",
                                       "request_rate",
                                       "block_size",
                                       "t",
                                       "in",
                                       "out",
                                       "hash_id_scope",
                                       "max_concurrency",
                                       "requests",
                                       "hash_ids",
                                       "input_lens",
                                       "output_lens",
                                       "start_times"};
static_assert(std::size(kNames) == kTraceKeys);

TraceKey KeyOf(std::string_view name) {
  return static_cast<TraceKey>(std::find(std::begin(kNames), std::end(kNames), name) - std::begin(kNames));
}

}  // namespace

const TraceValue* TraceRow::Find(TraceKey key) const {
  const auto found = std::find_if(values.begin(), values.end(), [key](const auto& one) { return one.first == key; });
  return found == values.end() ? nullptr : &found->second;
}

TraceValue& TraceRow::operator[](TraceKey key) {
  const auto found = std::find_if(values.begin(), values.end(), [key](const auto& one) { return one.first == key; });
  return found == values.end() ? values.emplace_back(key, TraceValue{}).second : found->second;
}

namespace {

// Makes rows from the top-level object, from the objects of a top-level list, and from those in a member "requests".
class RowReader final : public nlohmann::json_sax<Json> {
 public:
  // `place`: of a row; "": each row has its number. `objects`: counter of objects.
  RowReader(std::string place, std::size_t* objects, const std::function<bool(TraceRow&)>& on_row)
      : place_(std::move(place)), objects_(objects), on_row_(on_row) {}
  bool null() override { return true; }
  bool boolean(bool) override { return Wrong(); }
  bool number_integer(number_integer_t value) override {
    return Number(static_cast<double>(value), static_cast<std::uint64_t>(value), std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Number(static_cast<double>(value), value, std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& digits) override {
    return list_ && key_ == TraceKey::kHashIds ? Wrong() : Number(value, {}, digits);
  }
  bool string(string_t& value) override {
    if (skipped_ > 0) return true;
    if (list_) return Wrong();
    return Value([&value](TraceValue& one) {
      one.kind = TraceValue::Kind::kText;
      one.text = std::move(value);
    });
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    const bool is_row = skipped_ == 0 && !list_ && (rows_.empty() || in_requests_);
    if (!is_row) return Skip();
    if (++*objects_ > kMostTraceRows) return false;
    TraceRow row;
    row.place = !place_.empty() ? place_ : "request " + std::to_string(*objects_);
    rows_.push_back(std::move(row));
    in_requests_ = false;
    return true;
  }
  bool end_object() override {
    if (skipped_ > 0) return Leave();
    TraceRow row = std::move(rows_.back());
    rows_.pop_back();
    if (rows_.empty()) {
      stopped_ = !on_row_(row);
      return !stopped_;
    }
    rows_.back().requests.push_back(std::move(row));
    in_requests_ = true;
    return true;
  }
  bool start_array(std::size_t) override {
    if (skipped_ > 0 || list_ || in_requests_ || (rows_.empty() && in_list_)) return Skip();
    if (rows_.empty()) return in_list_ = true;
    if (key_ == TraceKey::kRequests && rows_.size() == 1) {
      rows_.back()[key_].kind = TraceValue::Kind::kList;
      return in_requests_ = true;
    }
    if (key_ == TraceKey::kOther || key_ <= TraceKey::kRequests) return Skip();
    list_ = true;
    return Value([](TraceValue& one) { one.kind = TraceValue::Kind::kList; });
  }
  bool end_array() override {
    if (skipped_ > 0) return Leave();
    if (list_) {
      list_ = false;
    } else {
      in_requests_ = false;
    }
    return true;
  }
  bool key(string_t& name) override {
    if (skipped_ == 0) key_ = KeyOf(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    position_ = position;
    return false;
  }

  // The character at which the text stops being JSON.
  [[nodiscard]] std::size_t position() const { return position_; }
  // Whether `on_row` stopped the reader.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  bool Skip() {
    ++skipped_;
    return true;
  }
  bool Leave() {
    --skipped_;
    return true;
  }
  template <class Set>
  bool Value(const Set& set) {
    if (!rows_.empty() && !in_requests_ && key_ != TraceKey::kOther) set(rows_.back()[key_]);
    return true;
  }
  bool Wrong() {
    return skipped_ > 0 || Value([](TraceValue& one) { one.kind = TraceValue::Kind::kWrong; });
  }
  bool Number(double value, std::uint64_t bits, const std::string& digits) {
    if (skipped_ > 0) return true;
    return Value([&](TraceValue& one) {
      if (!list_) {
        one.kind = TraceValue::Kind::kNumber;
        one.number = value;
        one.text = digits;
      } else if (key_ == TraceKey::kHashIds) {
        rows_.back().hash_ids.push_back(bits);
      } else {
        one.list.push_back(value);
      }
    });
  }

  std::string place_;
  std::size_t* objects_;
  const std::function<bool(TraceRow&)>& on_row_;
  std::vector<TraceRow> rows_;  // open
  TraceKey key_ = TraceKey::kOther;
  bool list_ = false, in_requests_ = false, in_list_ = false, stopped_ = false;
  std::size_t skipped_ = 0;  // open objects and lists that are skipped
  std::size_t position_ = 0;
};

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

// Whether the whole text is one value: it is a list, or its first line by itself is not valid JSON.
bool IsOneValue(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  return text[begin] == '[' || !Json::accept(line.begin(), line.end());
}

std::string LineOf(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, std::max<std::size_t>(position, 1) - 1);
  return "line " + std::to_string(std::count(before.begin(), before.end(), '\n') + 1);
}

}  // namespace

Issues ReadTraceRows(std::string_view text, const std::function<bool(TraceRow& row)>& on_row) {
  constexpr std::size_t kMostFaults = 10;
  Issues issues;
  std::size_t objects = 0;
  const auto is_too_many = [&] {
    if (objects <= kMostTraceRows) return false;
    issues.push_back({"", "Too many requests: at most " + std::to_string(kMostTraceRows)});
    return true;
  };
  if (IsOneValue(text)) {
    RowReader reader("", &objects, on_row);
    if (!Json::sax_parse(text.begin(), text.end(), &reader) && !reader.stopped() && !is_too_many())
      issues.push_back({LineOf(text, reader.position()), "Not valid JSON"});
    return issues;
  }
  std::size_t number = 0;
  for (std::size_t from = 0; from < text.size() && issues.size() < kMostFaults; ++number) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = text.substr(from, end - from);
    from = end + 1;
    if (IsBlank(line)) continue;
    const std::string place = "line " + std::to_string(number + 1);
    RowReader reader(place, &objects, on_row);
    if (Json::sax_parse(line.begin(), line.end(), &reader)) continue;
    if (reader.stopped() || is_too_many()) break;
    issues.push_back({place, "Not valid JSON in column " + std::to_string(reader.position())});
  }
  return issues;
}

}  // namespace slipstick
