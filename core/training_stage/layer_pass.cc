#include "core/training_stage/layer_pass.h"

namespace slipstick {

LayerPass& LayerPass::operator+=(const LayerPass& other) {
  compute += other.compute, tp += other.tp, cp += other.cp, ep += other.ep, host += other.host;
  tp_link += other.tp_link, cp_link += other.cp_link, ep_link += other.ep_link;
  return *this;
}

LayerPass operator*(LayerPass pass, Ratio times) {
  for (Seconds LayerPass::* part : {&LayerPass::compute, &LayerPass::tp, &LayerPass::cp, &LayerPass::ep,
                                    &LayerPass::host, &LayerPass::tp_link, &LayerPass::cp_link, &LayerPass::ep_link}) {
    pass.*part *= times;
  }
  return pass;
}

}  // namespace slipstick
