#include "core/command_line/size_command.h"

#include <array>

#include "core/base/listed.h"
#include "core/command_line/question_options.h"
#include "core/sizing/size.h"

namespace slipstick {
namespace {

constexpr QuestionOption kQuestionOptions[] = {{"--rate", "requests_per_s"},
                                               {"--peak", "peak_over_mean"},
                                               {"--ttft", "ttft"},
                                               {"--tpot", "tpot"},
                                               {"--percentile", "percentile"},
                                               {"--pools", "pools"},
                                               {"--spares", "spare_replicas"},
                                               {"--devices", "devices"},
                                               {"--power", "power"},
                                               {"--rack-power", "power_per_rack"},
                                               {"--budget", "budget"},
                                               {"--hourly-budget", "budget_per_hour"}};

}  // namespace

Answer RunSize(const std::string& request, const std::vector<std::string>& assignments,
               const std::map<std::string, std::string>& options, const std::vector<std::string>& limits) {
  Json question = QuestionOf(kQuestionOptions, options);
  question["limits"] = limits;
  question["clusters"] = ListedIn(options.at("--clusters"));
  const std::vector<std::string> day = ListedIn(options.at("--day"));
  if (!day.empty()) question["day"] = day;
  for (const std::string& text : ListedIn(options.at("--mixture"))) {
    const std::size_t colon = text.find(':'), slash = text.find('/');
    if (colon == std::string::npos || slash == std::string::npos || slash < colon)
      return WrongRequest({{"--mixture", "Enter WEIGHT:PROMPT/OUTPUT,…, such as 0.7:1000/300,0.3:8000/200"}});
    question["mixture"].push_back(ObjectOf({{"weight", text.substr(0, colon)},
                                            {"prompt_tokens", text.substr(colon + 1, slash - colon - 1)},
                                            {"output_tokens", text.substr(slash + 1)}}));
  }
  const std::vector<std::string> prices = ListedIn(options.at("--prices"));
  constexpr std::array<std::string_view, 3> kPriced{"input", "cached_input", "output"};
  if (!prices.empty() && prices.size() != kPriced.size())
    return WrongRequest({{"--prices", "Enter INPUT,CACHED,OUTPUT in $ per 1 M tokens"}});
  for (std::size_t i = 0; i < prices.size(); ++i) question["prices"][kPriced[i]] = prices[i] + " $/Mtoken";
  return SizeAnswer(request, assignments, question);
}

}  // namespace slipstick
