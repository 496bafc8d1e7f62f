#include "core/command_line/verbs.h"

#include <algorithm>

#include "core/base/listed.h"

namespace slipstick {
namespace {

constexpr std::string_view kScenario = "[FILE|-] [PATH=VALUE ...]";

constexpr CommandOption kOptions[] = {
    {"--json", "", "The answer as JSON, on a terminal too"},
    {"--format", "json|table|text",
     "table: for people, as on a terminal; text: with --explain, the derivation as a tree in Markdown", "",
     Offered::kNames, "json table text"},
    {"--explain", "PATH", "Adds the derivation of a figure; * of all", "", Offered::kFigures},
    {"--measured", "PATH=VALUE",
     "A figure measured on your own system, such as \"serving.tpot_s=21 ms\": the constant that explains it moves "
     "every "
     "answer; repeatable",
     "", Offered::kFigures},
    {"--lines", "", "Reads one request per line of standard input and answers each on a line"},
    {"--progress", "", "Shows progress even if standard error is not a terminal"},
    {"--for", "training|serving", "Which part of the scenario; default: training, and for advise the one that is on",
     "", Offered::kNames, "training serving"},
    {"--objective", "NAME", "The figure to optimize; default: step time, or throughput per device"},
    {"--pareto", "NAME,NAME", "Further figures of a Pareto frontier"},
    {"--top", "N", "How many of the best are listed", "10"},
    {"--limit", "PATH<=VALUE|PATH=a,b", "Keeps a figure within a bound, or an input to some values; repeatable"},
    {"--axis", "PATH=a,b,c",
     "Varies another input: every mapping is tried at every combination of the axes' values; repeatable", "",
     Offered::kInputs},
    {"--lock", "PATH,PATH", "Shares of the chip's budgets that stay as they are", "", Offered::kInputs},
    {"--mapping", "fixed|each",
     "fixed: the mapping follows the design found; each: it is chosen anew for each candidate, which takes longer",
     "fixed", Offered::kNames, "fixed each"},
    {"--shard", "I/N", "Decides one of N parts of the space; `merge` joins the answers", "0/1"},
    {"--threads", "N", "Threads; 0: all cores", "0"},
    {"--no-prune", "", "Times every mapping, also those that cannot enter the answer"},
    {"--report", "PATH,PATH,...", "The figures of each row; training.time_by_bound and the like give a column per part",
     "", Offered::kFigures},
    {"--optimise", "PATH", "Splits the chip design's budgets anew at each point, for the least of this figure", "",
     Offered::kFigures},
    {"--best", "training|serving", "Searches the best mapping at each value", "", Offered::kNames, "training serving"},
    {"--until", "PATH<=VALUE|PATH<=PATH", "A condition that must hold; repeatable", "", Offered::kFigures},
    {"--against", "PATH=VALUE", "The scenario to compare with, by what it changes; repeatable", "", Offered::kInputs},
    {"--rate", "R", "Mean requests per second"},
    {"--speed", "X", "Speed of the arrivals over that of the trace", "1"},
    {"--peak", "X", "Peak over mean traffic; targets hold at the peak", ""},
    {"--day", "X,Y,...",
     "Traffic through the day: relative rates in parts of equal length; targets hold at the highest"},
    {"--mixture", "W:P/O,...",
     "Classes of requests: weight, prompt and output tokens of each, such as 0.7:1000/300,0.3:8000/200"},
    {"--ttft", "S", "Target for the time to first token, such as \"800 ms\""},
    {"--tpot", "S", "Target for the time per output token"},
    {"--percentile", "mean|50|90|99", "Which request the targets hold for", "", Offered::kNames, "mean 50 90 99"},
    {"--pools", "one|one_and_two", "Pools to try: one, or also a pool that prefills beside one that decodes", "",
     Offered::kNames, "one one_and_two"},
    {"--clusters", "A,B,...", "Clusters to try", "", Offered::kClusters},
    {"--spares", "N", "Replicas that may fail"},
    {"--devices", "N", "At most so many devices"},
    {"--power", "W", "At most so much power"},
    {"--rack-power", "W", "At most so much power per rack"},
    {"--budget", "$", "At most this total cost of ownership"},
    {"--hourly-budget", "$/h", "At most this cost per hour"},
    {"--prices", "INPUT,CACHED,OUTPUT", "Market prices in $ per 1 M tokens, for margin and break-even"},
    {"--figure", "PATH", "The figure in question", "", Offered::kFigures},
    {"--share", "X", "By how much each input changes; 0: the exact elasticities alone", "0.2"},
    {"--input", "PATH", "Only this input", "", Offered::kInputs},
    {"--help", "", "Explains the command with examples"},
    {"--version", "", "The release"},
};

const std::vector<Verb>& AllVerbs() {
  static const std::vector<Verb> verbs{
      {"evaluate",
       kScenario,
       "Reports one scenario: training, serving, memory and cost. Inputs that are not given come from the default\n"
       "scenario and adjust to those that are. On a terminal a table, else JSON.",
       "--json --format --explain --measured --lines",
       {"evaluate model=llama-3.1-8b cluster=dgx-h100 serving.batch=64",
        "evaluate model=llama-3.1-8b cluster=dgx-h100 --measured \"serving.tpot_s=7 ms\"",
        "evaluate --explain training.step_time_s --format text",
        "evaluate model=deepseek-v3 cluster=dgx-h200 training=null --format table"}},
      {"compare",
       "[FILE ...] [PATH=VALUE ...]",
       "Compares scenarios: the inputs in which they differ and every figure of each. Each file is a scenario, and so "
       "is each\n"
       "--against: the first one with these changes, joined by &. PATH=VALUE holds for all.",
       "--json --format --measured --against",
       {"compare model=llama-3.1-8b cluster.devices=64 --against cluster=dgx-b200",
        "compare --against \"serving.mapping.tp=4&serving.devices=4\" --against serving.batch=64"}},
      {"search",
       kScenario,
       "Finds the best valid mapping (parallelism degrees, recomputation, batch) of a scenario by exhaustive search.\n"
       "Devices that serve are one pool or divided between prefill and decode. Where serving.disaggregated names\n"
       "another device for prefill, each pool keeps the devices that it has, and the layouts of both are searched; "
       "with\n"
       "--limit prefill_devices=0,N (N as it is) also those of one shared pool, as many of the cluster's own devices.",
       "--json --format --measured --for --objective --pareto --top --limit --axis --shard --threads --no-prune "
       "--progress",
       {"search model=llama-3.1-8b cluster=dgx-h100 --for training --top 3",
        "search training=null --for serving --objective tokens_per_s_per_user --pareto tokens_per_s_per_device",
        "search cluster.devices=64 --pareto cost_usd --axis cluster.device=h100-sxm5-80gb,b200-sxm",
        "search training=null cluster=dgx-h100 cluster.devices=16 serving.disaggregated.prefill_device=l40s --for "
        "serving"}},
      {"merge",
       "SHARD ...",
       "Merges the outputs of `search --shard I/N` into one answer.",
       "--json --format",
       {"merge shard0.json shard1.json"}},
      {"sweep",
       "[FILE|-] PATH=a,b,c PATH=lo:hi:n[:log] ...",
       "Prints one CSV row per combination of the values.",
       "--measured --report --optimise --best --objective --limit",
       {"sweep serving.batch=1,8,64 --report serving.tpot_s,serving.tokens_per_s",
        "sweep cluster.devices=64:1024:5:log --report training.step_time_s,training.cost_usd"}},
      {"solve",
       "[FILE|-] [PATH=VALUE ...] PATH=lo:hi[:step]",
       "Finds the largest or smallest value of one input at which every condition holds; all other inputs stay fixed.",
       "--json --format --measured --until --against --best --objective --limit --progress",
       {"solve serving.prompt=1k:1M --until \"serving.feasible>=1\""}},
      {"size",
       kScenario,
       "Finds, on each cluster, the cheapest deployment that serves a traffic within latency targets: devices, "
       "replicas, mapping,\n"
       "prefill chunk, cost, headroom, what breaks first and how many replicas may fail; or why none does. Beside it\n"
       "the cheapest with prefill and decode on a pool each, on another device where serving.disaggregated names one.\n"
       "With a day it also says what the deployment idles from part to part of it.\n"
       "Prompt, output and prefix_hit are the scenario's. With a mixture each class has its own prompt and output; "
       "the\n"
       "answer has the latencies of each and its shares of the tokens and of the cost. Targets hold for the mean of "
       "all\n"
       "requests at the peak, or for their percentile.",
       "--json --format --measured --rate --peak --day --mixture --ttft --tpot --percentile --pools --clusters "
       "--spares "
       "--devices "
       "--power "
       "--rack-power "
       "--budget "
       "--hourly-budget "
       "--prices --limit",
       {"size serving.prompt=2000 serving.output=300 --rate 40 --peak 1.5 --ttft \"800 ms\" --tpot \"30 ms\" "
        "--clusters dgx-h100,dgx-h200 "
        "--spares 1",
        "size serving.prompt=2000 serving.output=300 --rate 40 --day 1,1,1,2,4,6,6,3 --tpot \"30 ms\"",
        "size --rate 40 --mixture 0.7:1000/300,0.3:8000/200 --ttft \"1 s\" --tpot \"30 ms\""}},
      {"replay",
       "TRACE [FILE|-] [PATH=VALUE ...]",
       "Plays a file of recorded requests: what it needs, how it is served, and where it breaks. Reads Mooncake's and "
       "Bailian's traces\n"
       "(JSONL with hash_ids), turns of sessions (session_id), agents' conversations (requests of t, in, out, "
       "hash_ids) "
       "and results of\n"
       "`vllm bench serve --save-detailed` and SGLang's bench_serving --output-details. Lengths, arrivals and what "
       "prompts share are the\n"
       "trace's, all else the scenario's. Says how many replicas hold: the queue does not grow, and the targets are "
       "met "
       "at the percentile\n"
       "(99). --rate sets another mean rate.",
       "--json --format --measured --rate --speed --ttft --tpot --percentile --progress",
       {"replay trace.jsonl model=llama-3.1-8b cluster=dgx-h100 --ttft \"1 s\" --tpot \"30 ms\"",
        "replay result.json --rate 20"}},
      {"advise",
       kScenario,
       "Lists discrete changes that a person can make (newer devices, their number, number formats, batch, mapping, "
       "schedule,\n"
       "recomputation, engine options, …), each with what it does to time, memory and cost and what it takes, ranked "
       "by the\n"
       "objective; then pairs that are better than either alone. Only legal, feasible changes are listed;\n"
       "where a setting makes an infeasible scenario fit, purchases stand in pairs only. Default objective:\n"
       "training by time_to_train_s, serving by cost_usd_per_million_tokens (tokens_per_s_per_device without cost). No "
       "change more\n"
       "than doubles another headline (TTFT, TPOT, cost) unless a limit of yours is about it. --limit takes any figure "
       "of the report,\n"
       "members of the mapping, power (of the facility, W) and budget (total cost of ownership, $).",
       "--json --format --measured --for --objective --top --limit",
       {"advise model=llama-3.1-8b cluster=dgx-h100 --for serving --limit \"serving.tpot_s<=20 ms\" --top 5"}},
      {"evidence",
       kScenario,
       "Lists the published runs behind the interval of a figure, the nearest first: what was measured, what this "
       "program computes,\n"
       "what they had that the scenario has not, and what would narrow the interval. training.typical: whole "
       "production runs.",
       "--figure",
       {"evidence model=llama-3.1-70b cluster=dgx-h100 --figure serving.tpot_s"}},
      {"calibrate",
       "FILE|-",
       "Explains measurements of your own: which term would have to be off by how much, and what value of a fitted "
       "parameter explains\n"
       "them. {\"request\", \"measured\": [{\"figure\" or \"collective\", \"value\"}]}, values in base units.",
       "",
       {"calibrate - <<< '{\"measured\": [{\"figure\": \"serving.tpot_s\", \"value\": 0.024}]}'"}},
      {"sensitivity",
       kScenario,
       "Ranks the inputs by how far a figure moves when each changes by the same relative amount, beside the exact "
       "elasticity: per cent of the figure per per cent of the input, with choices and counts held.",
       "--json --format --measured --figure --share",
       {"sensitivity model=llama-3.1-8b --figure serving.tpot_s"}},
      {"dependence",
       kScenario,
       "Lists the figures that move when each number of the scenario, or of one input, moves a little.",
       "--input",
       {"dependence --input model.heads"}},
      {"design",
       "[FILE|-] [PATH=VALUE ...] [PATH=a,b,c ...] [PATH=lo:hi ...]",
       "Finds the chip design that is best for a figure: how it splits area, power and shoreline and, where an input "
       "is "
       "given\n"
       "several values, which of them (PATH=a,b,c, any input) or where between them (PATH=lo:hi, numbers of the "
       "design). "
       "Says\n"
       "how it converged, how far the answer is from a bound, and what more area, power, shoreline or package would "
       "bring.",
       "--json --format --objective --pareto --limit --lock --mapping --progress",
       {"design cluster.device.design=a100-like --objective training.step_time_s",
        "design training=null cluster.device.design=h100-like cluster.device.design.node=4nm,3nm,2nm "
        "\"cluster.device.design.area=400 mm^2:850 mm^2\" serving.batch=16,64 --objective "
        "serving.cost_usd_per_million_tokens --limit \"serving.tpot_s<=30 ms\" --lock "
        "cluster.device.design.edge_split"}},
      {"study",
       "ID",
       "Runs a paper study: its question, every point, which checks hold, what the paper says and how it is done "
       "here.\n"
       "`presets study` lists them.",
       "--json --format --threads --progress",
       {"study gemv", "study training-memory --format table"}},
      {"cost-study",
       "FILE|-",
       "Runs a manufacturing-cost study: wafers, yields, partitions, uncertainty.",
       "",
       {"cost-study - <<< '{\"kind\": \"yields\"}'"}},
      {"kernel",
       "[FILE|-]",
       "Times one operator, collective or expert exchange.",
       "--lines",
       {"kernel - <<< '{\"device\": \"h200-sxm\", \"operator\": {\"kind\": \"gemm\", \"m\": 4096, \"n\": 4096, \"k\": "
        "4096}}'"}},
      {"describe",
       "[WORD ...]",
       "Prints every input (path, kind, unit, range, default, choices, help) and every output (path, title, unit, "
       "better direction), or those whose path or meaning has all of the words.",
       "--json --format",
       {"describe kv cache"}},
      {"presets",
       "[KIND]",
       "Lists the presets: device, cluster, model, engine, framework, study and other kinds.",
       "--json --format",
       {"presets device"}},
      {"import-model", "FILE|-", "Imports a Hugging Face config.json as a model.", "", {"import-model config.json"}},
      {"schema",
       "[scenario|report|size_question]",
       "Prints the JSON Schema (2020-12) of scenarios, reports and sizing questions.",
       "",
       {"schema scenario"}},
      {"completion",
       "bash|zsh",
       "Prints what completes commands, options, paths and presets in a shell: source it.",
       "",
       {"completion bash"}},
      {"man", "", "Prints the manual page, for `man -l` or for a folder of manual pages.", "", {"man"}},
  };
  return verbs;
}

}  // namespace

std::span<const Verb> Verbs() { return AllVerbs(); }
std::span<const CommandOption> CommandOptions() { return kOptions; }

const Verb* VerbOf(std::string_view name) {
  const auto found =
      std::find_if(AllVerbs().begin(), AllVerbs().end(), [name](const Verb& verb) { return verb.name == name; });
  return found == AllVerbs().end() ? nullptr : &*found;
}

const CommandOption* OptionOf(std::string_view name) {
  const auto* found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                   [name](const CommandOption& option) { return option.name == name; });
  return found == std::end(kOptions) ? nullptr : found;
}

std::vector<const CommandOption*> OptionsOf(const Verb& verb) {
  std::vector<const CommandOption*> options;
  for (const CommandOption& option : kOptions) {
    const std::string_view names = verb.options;
    for (std::size_t at = names.find(option.name); at != std::string_view::npos; at = names.find(option.name, at + 1)) {
      const std::size_t end = at + option.name.size();
      if (end == names.size() || names[end] == ' ') options.push_back(&option);
    }
  }
  return options;
}

Issues WrongName(const CommandOption& option, const std::string& value) {
  if (option.offered != Offered::kNames || value == option.standard) return {};
  const std::vector<std::string> names = ListedIn(option.names, ' ');
  if (std::find(names.begin(), names.end(), value) != names.end()) return {};
  return {{std::string(option.name), "Choose one of " + std::string(option.value) + ", not " + value}};
}

}  // namespace slipstick
