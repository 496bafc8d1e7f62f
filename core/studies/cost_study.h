// Questions about cost that a report does not answer: curves, maps, draws. JSON text in, JSON text out, like answer.h.
#pragma once

#include <string_view>

#include "core/scenario/answer.h"

namespace slipstick {

// {"kind", "scenario", …members of CostStudy}. Kinds and their answers (lengths mm, areas mm^2, money $):
//   area         cost of a device against its silicon area, whole and in chiplets: areas_mm2, reticle_mm2,
//                curves[{chiplets, cost_usd, recurring_usd, fits_reticle}],
//                crossovers[{chiplets, area_mm2, recurring_area_mm2, own_area_mm2, volume, cheaper}]: chiplets are cheaper above or
//                below that volume at the device's own area, or always, or never
//   wafer        one wafer of a die: diameter_mm, edge_mm, width_mm, height_mm, dies[[x, y, state]] with state 0 bad, 1 good,
//                2 good with bad units; gross, good, expected_good; the draw is seeded
//   yields       every yield model against area: areas_mm2, models[{model, chosen, own_yield, yield}]
//   partition    the device split as asked: whole and split bills with their warnings, links' area, edge and power, crossovers; and what
//   the
//                scenario's answers become: performance{whole, split}, the price at the margin that the whole device has
//   monte_carlo  draws first … last - 1: quantiles and counts of device_usd and device_hour_usd, the draws themselves where
//                draws is true; a run cut into steps gives the same draws
//   tornado      swings[{path, low, high, device_usd: [at low, at high], device_hour_usd: […]}], largest first
Answer CostStudyAnswer(std::string_view request);

}  // namespace slipstick
