// How a report's figures were computed: each with its formula, its terms and their origins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/explanation.h"
#include "core/base/json.h"

namespace slipstick {

// The explanations of one figure, listed first, and of the figures that it depends on; of all figures for "*". Empty if
// the report has no such number. A term's `share` is the change of the figure in per cent when the term changes by 1 %;
// in a sum, it is the term's fraction. The product of the shares along a path is the effect of its end on the figure;
// the effects of all paths to an input add up. Terms that `lead` are on a path from the requested figure to the input
// with the largest effect: at each level, the path that carries the largest part of it.
Json WriteExplanations(const std::vector<FigureRecord>& figures, std::string_view path);

// The explanations of one figure as a tree in Markdown: at most seven terms per level, the largest share first. Parts
// of less than a twentieth of the figure, levels below the fifth, and figures that were already shown are not opened,
// except on the marked path. `sources`: sources of inputs, by path.
std::string DerivationText(const Json& explanations, const Json& sources, std::string_view path);

}  // namespace slipstick
