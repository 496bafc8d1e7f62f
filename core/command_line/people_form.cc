#include "core/command_line/people_form.h"

#include <algorithm>
#include <iterator>

#include "core/text/answer_text.h"
#include "core/text/report_text.h"

namespace slipstick {
namespace {

constexpr PeopleForm kPeopleForms[] = {
    {"evaluate", ReportText},         {"search", SearchText}, {"merge", SearchText},    {"size", SizeText},
    {"replay", ReplayText},           {"advise", AdviceText}, {"compare", CompareText}, {"solve", SolveText},
    {"sensitivity", SensitivityText}, {"design", DesignText}, {"presets", PresetsText}, {"study", StudyText},
    {"describe", DescribeText}};

}  // namespace

const PeopleForm* PeopleFormOf(std::string_view verb) {
  const auto* form = std::find_if(std::begin(kPeopleForms), std::end(kPeopleForms),
                                  [verb](const PeopleForm& one) { return one.verb == verb; });
  return form == std::end(kPeopleForms) ? nullptr : form;
}

}  // namespace slipstick
