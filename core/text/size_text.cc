// What to buy, as a table for people.
#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/json.h"
#include "core/text/answer_text.h"
#include "core/text/figure_text.h"
#include "core/text/table.h"

namespace slipstick {
namespace {

// The limit that fails first when the traffic grows, in words.
std::string LimitText(std::string_view limit) {
  return limit == "ttft" ? "TTFT" : limit == "tpot" ? "TPOT" : std::string(limit);
}

// The path of a latency: those that the targets are about, simulated at a percentile or means.
std::string LatencyPath(const Json& one, const char* means, const char* latency) {
  return (IsSet(one, "simulated") ? "simulated." : means) + std::string(latency);
}

// "TTFT p99" for requests simulated at that percentile, "TTFT" for means.
std::string LatencyTitle(const Json& one, const std::string& latency) {
  return IsSet(one, "simulated.percentile") ? latency + " p" + TextOf(one["simulated"]["percentile"]) : latency;
}

// A deployment that meets the targets, as a row.
std::vector<Cell> DeploymentRow(const Json& one, bool is_best) {
  const auto at = [&one](std::string_view path, std::string_view unit) {
    const std::optional<double> value = NumberAt(one, path);
    return Cell{value ? FigureText(*value, unit) : "–"};
  };
  const std::string mapping = DegreesText(one["deployment"]["mapping"]);
  return {{TextOf(one["cluster"]), is_best ? Tone::kStrong : Tone::kPlain},
          {at("cost.usd_per_hour", "$").text, is_best ? Tone::kStrong : Tone::kPlain},
          at("cost.usd_per_million_output_tokens", "$"),
          at("deployment.devices", "count"),
          {at("deployment.replicas", "count").text + " × " + at("deployment.devices_per_replica", "count").text},
          {mapping.empty() ? "–" : mapping},
          at(LatencyPath(one, "at_peak.", "ttft_s"), "s"),
          at(LatencyPath(one, "at_peak.", "tpot_s"), "s"),
          at("headroom.traffic", "%"),
          {LimitText(TextOf(one["headroom"]["breaks_first"]))},
          at("spare.at_peak", "count")};
}

// The traffic at which a deployment breaks even at the users' prices; "" if no prices were given.
std::string BreakEvenText(const Json& one) {
  const std::optional<double> from = NumberAt(one, "cost.market.break_even.requests_per_s"),
                              tokens = NumberAt(one, "cost.market.break_even.output_tokens_per_day"),
                              most = NumberAt(one, "cost.market.break_even.most_requests_per_s");
  if (!from || !tokens || !most) return "";
  const std::string can = *from <= *most ? " pays for itself from " : " would pay for itself from ";
  return TextOf(one["cluster"]) + can + CountText(*from) + " requests/s on, " + FigureText(*tokens, "count") +
         " output tokens a day; it serves at most " + CountText(*most) + "\n";
}

// Latencies and use of each class of requests; "" if all requests are alike.
std::string ClassesText(const Json& one, bool is_colored) {
  if (!IsSet(one, "classes")) return "";
  Table table({Table::kLeft, Table::kRight, Table::kRight, Table::kRight, Table::kRight, Table::kRight, Table::kRight},
              2);
  std::vector<Cell> head;
  const std::string titles[] = {"Prompt → output", "Requests", LatencyTitle(one, "TTFT"), LatencyTitle(one, "TPOT"),
                                "Tokens",          "Cost",     "Per 1 M output"};
  for (const std::string& title : titles) head.push_back({title, Tone::kStrong});
  table.Add(head);
  for (const Json& of : one["classes"]) {
    const auto at = [&of](const std::string& path, std::string_view unit) {
      return Cell{FigureText(NumberAt(of, path).value_or(0), unit)};
    };
    table.Add({{at("prompt_tokens", "count").text + " → " + at("output_tokens", "count").text},
               at("share", "%"),
               at(LatencyPath(of, "", "ttft_s"), "s"),
               at(LatencyPath(of, "", "tpot_s"), "s"),
               at("token_share", "%"),
               at("cost_share", "%"),
               at("usd_per_million_output_tokens", "$")});
  }
  return TextOf(one["cluster"]) + " by class of requests:\n" + table.Text(is_colored);
}

// Idle devices of the fleet through the day; "" if no day was given.
std::string DayText(const Json& one) {
  const std::optional<double> idle = NumberAt(one, "day.idle_share"), needed = NumberAt(one, "day.needed_devices"),
                              cost = NumberAt(one, "day.idle_usd_per_hour"),
                              bought = NumberAt(one, "deployment.devices");
  if (!idle || !needed || !cost || !bought) return "";
  const bool given_back = *idle > 0 && !(*cost > 0);
  return TextOf(one["cluster"]) + " needs " + FigureText(*needed, "count") + " of its " + CountText(*bought) +
         " devices in the mean of the day; the others " +
         (given_back
              ? "are rented on demand and given back\n"
              : "stand idle: " + FigureText(*idle, "%") + " of the cost, " + FigureText(*cost, "$") + " per hour\n");
}

// The cost of two pools compared to one, or why they are no answer; "" if they were not tried.
std::string TwoPoolsText(const Json& one) {
  const Json* pools = FindMember(one, "two_pools");
  if (pools == nullptr) return "";
  const std::string on = TextOf(one["cluster"]) + " on two pools: ";
  if (!(*pools)["holds"].get<bool>()) return on + TextOf((*pools)["message"]) + "\n";
  const auto part = [pools](const char* devices, const char* mapping) {
    const std::string degrees = DegreesText((*pools)["deployment"][mapping]);
    return CountText(NumberAt((*pools)["deployment"], devices).value_or(0)) +
           (degrees.empty() ? "" : " (" + degrees + ")");
  };
  const double saves = NumberAt(*pools, "saves").value_or(0);
  const std::optional<double> idle = NumberAt(*pools, "day.idle_share");
  const Json* device = MemberAt(*pools, "deployment.prefill_device");
  const std::string prefiller = device == nullptr || device->is_null() ? "" : " on " + TextOf(*device);
  std::string remarks;
  for (const Json& remark : (*pools)["remarks"]) remarks += TextOf(one["cluster"]) + ": " + TextOf(remark) + "\n";
  return on + part("prefill_devices", "prefill_mapping") + " prefill" + prefiller + ", " +
         part("decode_devices", "mapping") + " decode, " +
         FigureText(NumberAt(*pools, "cost.usd_per_hour").value_or(0), "$") + " per hour" +
         (saves > 0   ? ", " + FigureText(saves, "%") + " less than on one"
          : saves < 0 ? ", " + FigureText(-saves, "%") + " more than on one: do not split"
                      : "") +
         (idle ? "; " + FigureText(*idle, "%") + " of the devices idle in the mean of the day" : "") + "\n" + remarks;
}

}  // namespace

std::string SizeText(std::string_view json, bool is_colored) {
  const Json answer = *ParseJson(json);
  std::vector<const Json*> holding;
  Table failing({Table::kLeft, Table::kLeft});
  for (const Json& one : answer["clusters"]) {
    if (one["holds"].get<bool>()) {
      holding.push_back(&one);
    } else {
      failing.Add({{TextOf(one["cluster"])}, {TextOf(one["message"]), Tone::kBad}});
    }
  }
  std::stable_sort(holding.begin(), holding.end(), [](const Json* a, const Json* b) {
    return NumberAt(*a, "cost.usd_per_hour").value_or(0) < NumberAt(*b, "cost.usd_per_hour").value_or(0);
  });
  Table table({Table::kLeft, Table::kRight, Table::kRight, Table::kRight, Table::kRight, Table::kLeft, Table::kRight,
               Table::kRight, Table::kRight, Table::kLeft, Table::kRight});
  std::vector<Cell> head;
  const Json& first = holding.empty() ? answer : *holding.front();
  const std::string titles[] = {"Cluster",
                                "Per hour",
                                "Per 1 M output",
                                "Devices",
                                "Replicas",
                                "Mapping",
                                LatencyTitle(first, "TTFT"),
                                LatencyTitle(first, "TPOT"),
                                "Headroom",
                                "Breaks first",
                                "May fail"};
  for (const std::string& title : titles) head.push_back({title, Tone::kStrong});
  table.Add(head);
  for (const Json* one : holding) table.Add(DeploymentRow(*one, one == holding.front()));
  std::string text = holding.empty() ? "No cluster holds.\n" : table.Text(is_colored);
  for (const Json* one : holding) {
    for (const Json& remark : (*one)["remarks"]) text += TextOf((*one)["cluster"]) + ": " + TextOf(remark) + "\n";
  }
  for (const Json* one : holding) text += ClassesText(*one, is_colored);
  for (const Json* one : holding) text += DayText(*one);
  for (const Json* one : holding) text += BreakEvenText(*one);
  for (const Json& one : answer["clusters"]) text += TwoPoolsText(one);
  if (!failing.empty()) text += "\n" + failing.Text(is_colored);
  return text;
}

}  // namespace slipstick
