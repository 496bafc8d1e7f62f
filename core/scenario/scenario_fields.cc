#include "core/base/field_table.h"
#include "core/scenario/scenario.h"

namespace slipstick {

constexpr FieldRow kScenarioFields[] = {
    Of<&Scenario::version>(
        "version",
        "Version of the scenario format; from 2 on: unset degrees of parallelism are chosen, the best that fit; from 3 "
        "on: unset values follow those that are set, and a number without a unit is in the unit shown here")
        .Between(1, kNewestVersion),
    Of<&Scenario::model>("model", "Model"),
    Of<&Scenario::cluster>("cluster", "Cluster"),
    Of<&Scenario::partition>("partition", "Chiplets that the device's dies are split into; null: as the device is"),
    Of<&Scenario::training>("training", "Training question; null: off"),
    Of<&Scenario::serving>("serving", "Serving question; null: off"),
    Of<&Scenario::cost>("cost", "Cost question; null: off"),
    Of<&Scenario::post_training>(
        "post_training",
        "Post-training question: reinforcement learning (GRPO, PPO) whose rollouts the serving part generates and "
        "whose policy the training part trains; null: off"),
    Of<&Scenario::diffusion>("diffusion",
                             "Diffusion question: images or clips by a diffusion transformer, which takes the place of "
                             "the model; null: off")
        .Label("Images and video (diffusion)"),
    Of<&Scenario::measured>("measured",
                            "Figures measured on your own system: the constants that explain them move every answer "
                            "and narrow the intervals")
        .Label("Your measurements")
        .Advanced()};
constinit const Fields Schema<Scenario>::fields(kScenarioFields);

}  // namespace slipstick
