#include "core/command_line/help.h"

namespace slipstick {
namespace {

struct Help {
  std::string_view verb, usage, what, example;
};

constexpr std::string_view kBest = "[--best training|serving [--objective NAME] [--limit ...]]";

constexpr Help kHelp[] = {
    {"evaluate", "[FILE|-] [PATH=VALUE ...] [--explain PATH [--format text]] [--lines]",
     "Prints the report of one scenario as JSON. Inputs that are not given come from the default scenario.\n"
     "--explain adds the derivation of a figure (* for all), or with --format text prints it alone, as a tree in Markdown;\n"
     "--lines reads one request per line from standard input.",
     "evaluate model=llama-3.1-8b cluster=dgx-h100 serving.batch=64"},
    {"search",
     "[FILE|-] [PATH=VALUE ...] --for training|serving [--objective NAME] [--pareto NAME,NAME] [--top N]\n"
     "         [--limit PATH<=VALUE|PATH=a,b ...] [--shard I/N] [--threads N] [--no-prune] [--progress]",
     "Finds the best valid mapping (parallelism degrees, recomputation, batch) of a scenario by exhaustive search.",
     "search model=llama-3.1-8b cluster=dgx-h100 --for training --top 3"},
    {"merge", "SHARD ...", "Merges the outputs of `search --shard I/N` into one answer.", "merge shard0.json shard1.json"},
    {"sweep", "[FILE|-] PATH=a,b,c PATH=lo:hi:n[:log] ... --report PATH,PATH,... [--optimise PATH]",
     "Prints one CSV row per combination of the values.", "sweep serving.batch=1,8,64 --report serving.tpot_s,serving.tokens_per_s"},
    {"solve", "[FILE|-] [PATH=VALUE ...] PATH=lo:hi[:step] --until PATH<=VALUE|PATH<=PATH ... [--against PATH=VALUE ...] [--progress]",
     "Finds the largest or smallest value of one input at which every condition holds; all other inputs stay fixed.",
     "solve serving.prompt=1k:1M --until \"serving.feasible>=1\""},
    {"size",
     "[FILE|-] [PATH=VALUE ...] --rate R [--peak X] [--ttft S] [--tpot S] [--percentile mean|50|90|99] [--clusters A,B,...]\n"
     "         [--spares N] [--devices N] [--power W] [--rack-power W] [--budget $] [--hourly-budget $/h]\n"
     "         [--prices INPUT,CACHED,OUTPUT] [--limit PATH<=VALUE|PATH=a,b ...]",
     "Finds, on each cluster, the cheapest deployment that serves R requests/s within the targets: devices, replicas, mapping,\n"
     "prefill chunk, cost, headroom, what breaks first and how many replicas may fail; or why none does. Prompt, output and\n"
     "prefix_hit are the scenario's. Targets hold for the mean request at the peak, X times R. Prices are in $ per 1 M tokens.",
     "size serving.prompt=2000 serving.output=300 --rate 40 --peak 1.5 --ttft \"800 ms\" --tpot \"30 ms\" --clusters dgx-h100,dgx-h200 "
     "--spares 1"},
    {"advise", "[FILE|-] [PATH=VALUE ...] [--for training|serving] [--objective NAME] [--top N] [--limit PATH<=VALUE ...]",
     "Lists discrete changes that a person can make (newer devices, their number, number formats, batch, mapping, schedule,\n"
     "recomputation, engine options, …), each with what it does to time, memory and cost and what it takes, ranked by the\n"
     "objective; then pairs that are better than either alone. Only legal, feasible changes are listed. Default objective:\n"
     "training by time_to_train_s, serving by cost_usd_per_million_tokens (tokens_per_s_per_device without cost). No change more\n"
     "than doubles another headline (TTFT, TPOT, cost) unless a limit of yours is about it. --limit takes any figure of the report,\n"
     "members of the mapping, power (of the facility, W) and budget (total cost of ownership, $).",
     "advise model=llama-3.1-8b cluster=dgx-h100 --for serving --limit \"serving.tpot_s<=20 ms\" --top 5"},
    {"sensitivity", "[FILE|-] [PATH=VALUE ...] --figure PATH [--share 0.2]",
     "Ranks the inputs by how far a figure moves when each changes by the same relative amount.",
     "sensitivity model=llama-3.1-8b --figure serving.tpot_s"},
    {"dependence", "[FILE|-] [PATH=VALUE ...] [--input PATH]",
     "Lists the figures that move when each number of the scenario, or of one input, moves a little.", "dependence --input model.heads"},
    {"design", "[FILE|-] [PATH=VALUE ...] --objective PATH",
     "Finds the split of a chip design's area, power and shoreline that minimizes a figure.",
     "design cluster.device.design=a100-like --objective training.step_time_s"},
    {"study", "ID [--threads N] [--progress]", "Runs a paper study; `presets study` lists them.", "study gemv"},
    {"cost-study", "FILE|-", "Runs a manufacturing-cost study: wafers, yields, partitions, uncertainty.",
     "cost-study - <<< '{\"kind\": \"yields\"}'"},
    {"kernel", "[FILE|-] | --lines < operators.jsonl", "Times one operator, collective or expert exchange.",
     "kernel - <<< '{\"device\": \"h200-sxm\", \"operator\": {\"kind\": \"gemm\", \"m\": 4096, \"n\": 4096, \"k\": 4096}}'"},
    {"describe", "",
     "Prints every input (path, kind, unit, range, default, choices, help) and every output (path, title, unit, better direction).",
     "describe"},
    {"presets", "[KIND]", "Prints the presets: device, cluster, model, engine, framework, study and other kinds.", "presets device"},
    {"import-model", "FILE|-", "Imports a Hugging Face config.json as a model.", "import-model config.json"},
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
  return text + "`slipstick COMMAND --help` explains a command with an example.\n";
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
