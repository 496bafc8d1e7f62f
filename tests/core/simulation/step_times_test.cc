// A simulated step against the same step of the engine.
#include "core/simulation/step_times.h"

#include <gtest/gtest.h>

#include "core/engine_step/step_time.h"
#include "core/serving/phase_time.h"
#include "core/simulation/simulated_deployment.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

// A step that the host's prefill launches bound takes the same time at any decode context, also between powers of two.
TEST(StepTimes, OfMixedStepsAreThoseOfTheEngineBetweenPowersOfTwo) {
  const Result<Scenario> scenario = ScenarioOf({"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b",
                                                "serving.engine=trtllm", "serving.prompt=717", "serving.output=2"});
  ASSERT_TRUE(scenario);
  SimulatedDeployment simulated(scenario->model, scenario->cluster, *scenario->serving);
  for (const double prompts : {1.0, 4.0}) {
    for (const double context : {512.0, 717.0, 1000.0}) {
      StepWork work;
      work.decoded = work.running = 64;
      work.context = context;
      work.prompts = prompts;
      work.tokens = 400;
      MixedPass pass;
      pass.decode.sequences = work.decoded;
      pass.decode.context = context;
      pass.prompts = {prompts, work.tokens};
      EXPECT_NEAR(simulated.system().step_time(work).time / TimeOf(pass, simulated.deployment()), 1, 0.01)
          << prompts << " prompts beside a context of " << context;
    }
  }
}

}  // namespace
}  // namespace slipstick
