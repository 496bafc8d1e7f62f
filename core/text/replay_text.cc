// The answer about recorded requests, for people.
#include <optional>
#include <utility>

#include "core/base/json.h"
#include "core/text/answer_text.h"
#include "core/text/figure_text.h"
#include "core/text/table.h"

namespace slipstick {
namespace {

std::string Figure(const Json& json, const std::string& path, std::string_view unit) {
  const std::optional<double> value = NumberAt(json, path);
  return value ? FigureText(*value, unit) : "–";
}

// "1 device", "8 devices".
std::string Counted(const Json& json, const std::string& path, const std::string& one) {
  return Figure(json, path, "count") + " " + one + (NumberAt(json, path) == 1.0 ? "" : "s");
}

// A row of a distribution: mean and percentiles.
std::vector<Cell> Row(std::string title, const Json& json, const std::string& mean, const std::string& percentiles,
                      std::string_view unit) {
  std::vector<Cell> row{{std::move(title)}, {Figure(json, mean, unit)}};
  for (const char* one : {"p50", "p90", "p99"}) row.push_back({Figure(json, percentiles + "." + one, unit)});
  return row;
}

}  // namespace

std::string ReplayText(std::string_view json, bool is_colored) {
  const Json answer = *ParseJson(json);
  const std::string& message = TextOf(answer["message"]);
  if (answer["played"].is_null()) return message + "\n";
  const auto figure = [&answer](const std::string& path, std::string_view unit) { return Figure(answer, path, unit); };
  std::string text = figure("trace.requests", "count") + " requests (" + TextOf(answer["format"]) + "), " +
                     figure("trace.requests_per_s", "/s") + " over " + figure("trace.span_s", "s") + ", on " +
                     Counted(answer, "deployment.devices", "device") + " (" +
                     Counted(answer, "deployment.replicas", "replica") + ")\n\n";
  Table table({Table::kLeft, Table::kRight, Table::kRight, Table::kRight, Table::kRight});
  table.Add({{""}, {"mean", Tone::kStrong}, {"p50", Tone::kStrong}, {"p90", Tone::kStrong}, {"p99", Tone::kStrong}});
  table.Add(Row("Prompt tokens", answer, "trace.prompt.mean", "trace.prompt", "count"));
  table.Add(Row("Output tokens", answer, "trace.output.mean", "trace.output", "count"));
  table.Add(Row("TTFT", answer, "played.ttft_s", "played.ttft_percentiles_s", "s"));
  table.Add(Row("TPOT", answer, "played.tpot_s", "played.tpot_percentiles_s", "s"));
  table.Add(Row("Latency", answer, "played.request_latency_s", "played.latency_percentiles_s", "s"));
  text += table.Text(is_colored) + "\n";
  text += "Throughput " + figure("played.tokens_per_s", "token/s") + "; prefix-cache hit rate " +
          figure("played.hit_rate", "%") + " (" + figure("trace.best_hit_rate", "%") +
          " with unlimited memory); peak KV cache " + figure("played.kv_cache_peak_bytes", "B") + " of " +
          figure("played.kv_cache_room_bytes", "B") + " per device\n";
  if (answer["breaks"].is_object())
    text += Toned("Breaks at " + figure("breaks.at_s", "s") + ". " + TextOf(answer["breaks"]["message"]), Tone::kBad,
                  is_colored) +
            "\n";
  if (answer["needed"].is_object())
    text +=
        "Needs " + Counted(answer, "needed.replicas", "replica") + ", " + Counted(answer, "needed.devices", "device") +
        (NumberAt(answer, "needed.bought_devices") > NumberAt(answer, "needed.devices")
             ? " of " + figure("needed.bought_devices", "count") + " in whole servers"
             : "") +
        (NumberAt(answer, "needed.usd_per_hour") ? ", " + figure("needed.usd_per_hour", "$") + " per hour" : "") + "\n";
  if (!message.empty()) text += message + "\n";
  for (const Json& note : answer["notes"]) text += Toned(TextOf(note), Tone::kFaint, is_colored) + "\n";
  return text;
}

}  // namespace slipstick
