#include "core/command_line/help.h"

namespace slipstick {
namespace {

struct Help {
  std::string_view verb, usage, what, example;
};

constexpr std::string_view kBest = "[--best training|serving [--objective NAME] [--limit ...]]";

constexpr Help kHelp[] = {
    {"evaluate", "[FILE|-] [PATH=VALUE ...] [--explain PATH] [--lines]",
     "Prints the report of one scenario as JSON. What is not written is the default scenario's.\n"
     "--explain adds how a figure comes about (* for all); --lines reads one request per line from standard input.",
     "evaluate model=llama-3.1-8b cluster=dgx-h100 serving.batch=64"},
    {"search",
     "[FILE|-] [PATH=VALUE ...] --for training|serving [--objective NAME] [--pareto NAME,NAME] [--top N]\n"
     "         [--limit PATH<=VALUE|PATH=a,b ...] [--shard I/N] [--threads N] [--no-prune] [--progress]",
     "Finds the best legal mapping (parallelism degrees, recomputation, batch) of a scenario.",
     "search model=llama-3.1-8b cluster=dgx-h100 --for training --top 3"},
    {"merge", "SHARD ...", "Joins what `search --shard I/N` printed into one answer.", "merge shard0.json shard1.json"},
    {"sweep", "[FILE|-] PATH=a,b,c PATH=lo:hi:n[:log] ... --report PATH,PATH,... [--optimise PATH]",
     "Prints a CSV row for every combination of the values.", "sweep serving.batch=1,8,64 --report serving.tpot_s,serving.tokens_per_s"},
    {"solve", "[FILE|-] [PATH=VALUE ...] PATH=lo:hi[:step] --until PATH<=VALUE|PATH<=PATH [--against PATH=VALUE ...] [--progress]",
     "Finds the last value of one input in a range at which a condition holds, all other inputs staying as they are.",
     "solve serving.prompt=1k:1M --until \"serving.feasible>=1\""},
    {"sensitivity", "[FILE|-] [PATH=VALUE ...] --figure PATH [--share 0.2]",
     "Ranks the inputs by how far a figure moves when each is changed by a share of itself.",
     "sensitivity model=llama-3.1-8b --figure serving.tpot_s"},
    {"design", "[FILE|-] [PATH=VALUE ...] --objective PATH",
     "Splits a designed device's area, power and shoreline for the best value of a figure.",
     "design cluster.device.design=a100-like --objective training.step_time_s"},
    {"study", "ID [--threads N] [--progress]", "Runs a study of a paper; `presets study` lists them.", "study gemv"},
    {"cost-study", "FILE|-", "Answers a question about manufacturing cost: wafers, yields, partitions, uncertainty.",
     "cost-study - <<< '{\"kind\": \"yields\"}'"},
    {"kernel", "[FILE|-] | --lines < operators.jsonl", "Times one operator or collective.",
     "kernel - <<< '{\"device\": \"h200-sxm\", \"operator\": {\"kind\": \"gemm\", \"m\": 4096, \"n\": 4096, \"k\": 4096}}'"},
    {"describe", "",
     "Prints every input (path, kind, unit, range, default, choices, help) and every output (path, title, unit, what is better).",
     "describe"},
    {"presets", "[KIND]", "Prints the catalogue: device, cluster, model, engine, framework, study and other kinds.", "presets device"},
    {"import-model", "FILE|-", "Turns a Hugging Face config.json into a model.", "import-model config.json"},
};

std::string Call(const Help& help) {
  std::string text = "slipstick " + std::string(help.verb) + (help.usage.empty() ? "" : " ") + std::string(help.usage);
  if (help.verb == "sweep" || help.verb == "solve") text += " " + std::string(kBest);
  return text;
}

}  // namespace

std::string UsageText() {
  std::string text;
  for (const Help& help : kHelp) text += (text.empty() ? "usage: " : "       ") + Call(help) + "\n";
  return text + "`slipstick COMMAND --help` says what a command does and gives an example.\n";
}

std::string HelpText(std::string_view verb) {
  for (const Help& help : kHelp) {
    if (help.verb == verb) {
      return "usage: " + Call(help) + "\n\n" + std::string(help.what) + "\n\nexample: slipstick " + std::string(help.example) + "\n";
    }
  }
  return "";
}

}  // namespace slipstick
