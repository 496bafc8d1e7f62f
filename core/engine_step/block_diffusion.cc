#include "core/engine_step/block_diffusion.h"

#include "core/base/fix.h"

namespace slipstick {

void CheckBlockDiffusion(const ServingLoad& load, const std::string& path, Issues& issues) {
  const std::string member = path + ".block_diffusion";
  if (load.speculative) {
    issues.push_back({path + ".speculative",
                      "Must be off: block diffusion has no drafts to verify",
                      {LeaveOut(path + ".speculative"), LeaveOut(member)}});
  }
  const BlockDiffusion& diffusion = *load.block_diffusion;
  if (diffusion.tokens_per_step > static_cast<double>(diffusion.block)) {
    issues.push_back({member + ".tokens_per_step",
                      "At most " + std::to_string(diffusion.block) + ", the tokens of a block",
                      {SetTo(member + ".tokens_per_step", diffusion.block)}});
  }
}

}  // namespace slipstick
