#include "core/base/field_table.h"
#include "core/engine_step/sessions.h"

namespace slipstick {

constexpr FieldRow kSessionsFields[] = {
    Of<&Sessions::turns>("turns", "Turns of a session").Required().Between(1, 10'000),
    Of<&Sessions::system_prompt>("system_prompt",
                                 "Tokens that all sessions begin with (system prompt, tools); they are stored once")
        .Label("Shared system prompt")
        .Length()
        .Between(0, 1 << 24),
    Of<&Sessions::opening>("opening", "Further tokens that each session begins with: a document, a repository")
        .Label("Opening of a session")
        .Length()
        .Between(0, 1 << 24),
    Of<&Sessions::added>("added", "Tokens that the user or a tool adds before each answer")
        .Required()
        .Length()
        .Between(1, 1 << 24),
    Of<&Sessions::gap>("gap", "Mean time from an answer to the next turn; it is exponential")
        .In(kS)
        .Required()
        .Between(0, 1'000'000)};
constinit const Fields Schema<Sessions>::fields(kSessionsFields);

}  // namespace slipstick
