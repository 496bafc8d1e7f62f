#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/evaluation/report.h"
#include "core/text/answer_text.h"
#include "core/text/figure_text.h"
#include "core/text/table.h"

namespace slipstick {
namespace {

// The parts of a figure, as members of an object or entries of a list, and the figure that they add up to.
struct Breakdown {
  std::string_view parts, total;
  std::string_view when = "";  // distinguishes figures that have the same title
};
constexpr Breakdown kBreakdowns[] = {{"training.time_s", "training.step_time_s"},
                                     {"training.memory_bytes", "training.memory_bytes.total", ", training"},
                                     {"serving.ttft_parts_s", "serving.ttft_s"},
                                     {"serving.tpot_parts_s", "serving.tpot_s"},
                                     {"serving.time_by_bound.decode", "serving.decode_step_s"},
                                     {"serving.memory_bytes", "serving.memory_bytes.total", ", serving"},
                                     {"post_training.time_s", "post_training.step_time_s"},
                                     {"diffusion.time_s", "diffusion.latency_s"},
                                     {"cost.device_usd_parts", "cost.device_usd"},
                                     {"cost.system_usd_parts", "cost.system_usd"}};
// Names of parts of a bill whose keys are too short to be clear.
constexpr std::pair<std::string_view, std::string_view> kLongNames[] = {{"module", "board, VRM and heat spreader"},
                                                                        {"assembly loss", "assembly yield loss"},
                                                                        {"test loss", "test yield loss"}};
// Members of a breakdown that are not parts.
constexpr std::string_view kNoParts[] = {"total", "capacity", "host"};

struct Part {
  std::string title;
  double value;
};

std::string LongName(const std::string& name) {
  for (const auto& [brief, full] : kLongNames) {
    if (name == brief) return std::string(full);
  }
  return name;
}

std::vector<Part> PartsOf(const Json& parts, std::string_view path) {
  std::vector<Part> list;
  if (parts.is_array()) {
    for (const Json& line : parts) list.push_back({LongName(TextOf(line["name"])), line["cost_usd"].get<double>()});
  } else {
    for (const auto& [key, value] : parts.items()) {
      if (std::find(std::begin(kNoParts), std::end(kNoParts), key) != std::end(kNoParts)) continue;
      list.push_back({std::string(OutputTitle(std::string(path) + "." + key)), value.get<double>()});
    }
  }
  std::erase_if(list, [](const Part& part) { return part.value == 0; });
  std::stable_sort(list.begin(), list.end(), [](const Part& a, const Part& b) { return a.value > b.value; });
  return list;
}

std::string ShareText(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", share * 100);
  return text.data();
}

std::string Bar(double share) {
  std::string bar;
  for (int i = 0; i < std::lround(share * 20); ++i) bar += "█";
  return bar;
}

void AddBreakdown(const Json& report, const Breakdown& breakdown, Table& table) {
  const Json* parts = MemberAt(report, breakdown.parts);
  const Json* total = MemberAt(report, breakdown.total);
  if (parts == nullptr || total == nullptr || !total->is_number() || !(total->get<double>() > 0)) return;
  table.Add({});
  table.Add({{std::string(OutputTitle(breakdown.total)) + std::string(breakdown.when), Tone::kStrong},
             {FigureAt(report, breakdown.total), Tone::kStrong}});
  for (const Part& part : PartsOf(*parts, breakdown.parts)) {
    const double share = part.value / total->get<double>();
    table.Add({{"  " + part.title},
               {FigureText(part.value, UnitOf(breakdown.total))},
               {ShareText(share)},
               {Bar(share), Tone::kFaint}});
  }
}

std::string CountAt(const Json& report, std::string_view path) {
  const Json* count = MemberAt(report, path);
  return count != nullptr && count->is_number() ? CountText(count->get<double>()) : "–";
}

// One of the four answers: its subject, the figure with its 90 % interval, and further details; or that its question
// is off.
void AddAnswer(std::string_view title, bool is_asked, std::string_view of, const std::string& figure,
               const std::string& interval, const std::string& more, Table& table) {
  table.Add({{std::string(title), Tone::kStrong},
             {is_asked ? std::string(of) : "off", Tone::kFaint},
             {is_asked ? figure : "", Tone::kStrong},
             {is_asked ? interval : "", Tone::kFaint},
             {is_asked ? more : ""}});
}

// "fits" or "may not fit" from the verdict of a part.
std::string VerdictText(const Json& report, std::string_view path) {
  std::string text = TextAt(report, path);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text.empty() ? text : ": " + text;
}

// What a device costs to buy, and the year of that price if it is known; nothing if devices are rented.
std::string PriceText(const Json& report) {
  if (IsSet(report, "scenario.cost.rental")) return "";
  const std::optional<double> year = NumberAt(report, "scenario.cost.device.price_year");
  return "price " + FigureAt(report, "cost.device_price_usd") +
         (year ? " (" + std::to_string(static_cast<int>(*year)) + "), " : ", ");
}

// Adds the reasons why a part is infeasible.
void AddInfeasibilities(const Json& part, Table& table) {
  if (!part.is_object()) return;
  for (const Json& one : part["infeasible"]) table.Add({{"  " + TextOf(one["message"]), Tone::kBad}});
}

// The time of the run with checkpoints and restarts.
std::string InterruptedText(const Json& report) {
  if (!IsSet(report, "training.run")) return "";
  return IsSet(report, "training.run.wall_time_s")
             ? ", " + FigureAt(report, "training.run.wall_time_s") + " with interruptions"
             : ", never ends with interruptions";
}

// The interval of a step, in steps of the run.
std::string RunInterval(const Json& report) {
  const std::optional<double> run = NumberAt(report, "training.time_to_train_s"),
                              step = NumberAt(report, "training.step_time_s");
  return run && step ? IntervalAt(report, "training.step_time_interval", "s", *run / *step) : "";
}

std::string Answers(const Json& report, bool is_colored) {
  const auto at = [&report](std::string_view path) { return FigureAt(report, path); };
  const bool trains = report["training"].is_object(), serves = report["serving"].is_object(),
             costs = report["cost"].is_object();
  Table table({Table::kLeft, Table::kLeft, Table::kRight, Table::kLeft, Table::kLeft});
  table.Add({{""}, {""}, {""}, {"90 % interval", Tone::kFaint}});
  const auto add = [&](std::string_view title, bool is_asked, std::string_view of, std::string_view figure,
                       std::string_view interval, const std::string& more) {
    AddAnswer(title, is_asked, of, at(figure), IntervalAt(report, interval, UnitOf(figure)), more, table);
  };
  AddAnswer("Training", trains, FigureText(NumberAt(report, "scenario.training.tokens").value_or(0), "token"),
            at("training.time_to_train_s"), RunInterval(report),
            at("training.model_flops_utilization") + " MFU, " + at("training.step_time_s") + " per step, " +
                at("training.cost_usd") + InterruptedText(report),
            table);
  add("Serving", serves, CountAt(report, "serving.batch") + " requests per replica", "serving.tpot_s",
      "serving.tpot_interval", "per output token (TPOT)");
  if (serves) {
    add("", true, "", "serving.ttft_s", "serving.ttft_interval", "to the first token (TTFT)");
    add("", true, "", "serving.tokens_per_s", "serving.throughput_interval",
        at("serving.tokens_per_s_per_user") + " per user");
  }
  if (trains) {
    add("Memory", true, "per GPU, when training", "training.memory_bytes.total", "training.memory_interval",
        "of " + at("training.memory_bytes.capacity") + VerdictText(report, "training.memory_verdict"));
  }
  add("Memory", serves, "per GPU, when serving", "serving.memory_bytes.total", "serving.memory_interval",
      "of " + at("serving.memory_bytes.capacity") + ", KV cache " + at("serving.kv_cache_bytes") + ", at most " +
          CountAt(report, "serving.max_batch") + " sequences");
  add("Cost", costs, "manufacturing, per device", "cost.device_usd", "cost.device_interval",
      PriceText(report) + at("cost.device_hour_usd") + " per GPU-hour" +
          (serves ? ", " + at("serving.cost_usd_per_million_tokens") + " per 1 M output tokens" : ""));
  if (FindMember(report, "post_training") != nullptr) {
    add("Post-training", true, CountAt(report, "post_training.samples") + " samples per step",
        "post_training.step_time_s", "",
        "per step, " + at("post_training.tokens_per_s_per_device") + " per GPU, " +
            CountAt(report, "post_training.generation_devices") + " devices generate, " +
            CountAt(report, "post_training.training_devices") + " train");
  }
  if (FindMember(report, "diffusion") != nullptr) {
    const bool is_video = MemberAt(report, "diffusion.video_s_per_hour")->is_number();
    add("Diffusion", true, TextAt(report, "scenario.diffusion.model.name"), "diffusion.latency_s",
        "diffusion.latency_interval",
        (is_video ? "per clip, " + CountAt(report, "diffusion.video_s_per_hour") + " s of video per hour, "
                  : "per image, " + CountAt(report, "diffusion.items_per_hour") + " per hour, ") +
            at("diffusion.cost_usd") + " each, memory " + at("diffusion.memory_bytes.total") + " of " +
            at("diffusion.memory_bytes.capacity"));
  }
  std::string text = table.Text(is_colored);
  Table faults({Table::kLeft});
  for (const char* part : kParts) {
    if (const Json* answer = FindMember(report, part)) AddInfeasibilities(*answer, faults);
  }
  if (!faults.empty()) text += "\nInfeasible:\n" + faults.Text(is_colored);
  return text;
}

// "64 devices", or "8 of 64 devices" for a part that runs on some of them.
std::string DevicesText(const Json& scenario, std::string_view part) {
  const std::string all = CountAt(scenario, "cluster.devices"),
                    used = CountAt(scenario, std::string(part) + ".devices");
  return (used == all ? all : used + " of " + all) + " devices";
}

// How the parts run, as their inputs are written: "Training on 64 devices: tp=4 dp=16 zero=1 recompute=full".
std::string MappingsText(const Json& report) {
  std::string text;
  const Json& scenario = report["scenario"];
  if (report["training"].is_object()) {
    const Json& training = scenario["training"];
    text += "Training on " + DevicesText(scenario, "training") + ": " + DegreesText(training["mapping"]) +
            " recompute=" + TextOf(training["recompute"]) + "\n";
  }
  if (report["serving"].is_object()) {
    const Json& serving = scenario["serving"];
    const std::optional<double> prefill = NumberAt(serving, "disaggregated.prefill_devices");
    text += "Serving on " + DevicesText(scenario, "serving") + ": " + DegreesText(serving["mapping"]) +
            (prefill ? " prefill_devices=" + CountText(*prefill) : "") + "\n";
  }
  return text;
}

}  // namespace

std::string ReportText(std::string_view json, bool is_colored) {
  const Json report = *ParseJson(json);
  const bool makes_images_alone =
      FindMember(report, "diffusion") != nullptr && !report["training"].is_object() && !report["serving"].is_object();
  const std::string system =
      TextAt(report, makes_images_alone ? "scenario.diffusion.model.name" : "scenario.model.name") + " on " +
      CountAt(report, "scenario.cluster.devices") + " × " + TextAt(report, "scenario.cluster.device.name") + " (" +
      TextAt(report, "scenario.cluster.name") + ")";
  std::string text = Toned(system, Tone::kStrong, is_colored) + "\n" +
                     Toned(MappingsText(report), Tone::kFaint, is_colored) + "\n" + Answers(report, is_colored);
  Table table({Table::kLeft, Table::kRight, Table::kRight, Table::kLeft});
  for (const Breakdown& breakdown : kBreakdowns) AddBreakdown(report, breakdown, table);
  text += table.Text(is_colored);
  if (const Json* units = FindMember(report, "units_assumed")) {
    for (const Json& one : *units) text += "\nRead " + TextOf(one["path"]) + " as " + TextOf(one["value"]) + ".";
  }
  for (const Json& warning : report["warnings"])
    text += "\n" + Toned("Warning: " + TextOf(warning), Tone::kBad, is_colored);
  return text + "\n" +
         Toned("All figures: --json. How one comes about: --explain " +
                   std::string(makes_images_alone ? "diffusion.latency_s" : kBreakdowns[0].total) + "\n",
               Tone::kFaint, is_colored);
}

}  // namespace slipstick
