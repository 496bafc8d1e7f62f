// Cost studies beyond the report: curves, wafer maps, Monte-Carlo samples. JSON text in, JSON text out.
#pragma once

#include <string_view>

#include "core/scenario/answer.h"

namespace slipstick {

// {"kind", "scenario", …members of CostStudy}. Kinds and their answers (lengths mm, areas mm^2, money $):
//   area         cost of a device over its silicon area, monolithic and in chiplets: areas_mm2, reticle_mm2,
//                curves[{chiplets, cost_usd, recurring_usd, fits_reticle}],
//                crossovers[{chiplets, area_mm2, recurring_area_mm2, own_area_mm2, volume, cheaper}]: at the device's
//                own area chiplets are cheaper above or below that volume, or always, or never
//   wafer        one wafer of a die: diameter_mm, edge_mm, width_mm, height_mm, dies[[x, y, state]] with state 0 bad,
//                1 good, 2 good, partly disabled (harvested); gross, good, expected_good; the sample is seeded
//   yields       every yield model against area: areas_mm2, models[{model, chosen, own_yield, yield}]
//   partition    the device split into chiplets: whole and split bills with warnings; area, edge and power of the
//                links; crossovers; performance{whole, split}: the scenario's answers on each, priced at the whole
//                device's margin
//   monte_carlo  samples first … last - 1: quantiles and counts of device_usd and device_hour_usd, and every sample if
//                draws is true; a run in steps gives the same samples
//   tornado      swings[{path, low, high, device_usd: [at low, at high], device_hour_usd: […]}], largest first
Answer CostStudyAnswer(std::string_view request);

}  // namespace slipstick
