// How a report's figures came to be: each with its formula, its terms and what they come from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/explanation.h"
#include "core/base/json.h"

namespace slipstick {

// The explanation of one figure and of those that it rests on, itself first; of all for "*". Empty if the report has no
// such number. A term's `share` is by how many per cent the figure moves when the term moves by one: in a sum, the part
// that the term is. The shares along a path multiply to how far its end moves the figure; those of all paths to an
// input add up. Terms that `lead` are on a path from the figure asked for to the input that moves it most: of the paths
// there, at each level the one that carries most of that.
Json WriteExplanations(const std::vector<FigureRecord>& figures, std::string_view path);

// The explanations of one figure as a tree in Markdown: at most seven terms a level, the largest share first. Parts of
// less than a twentieth of the figure and levels below the fifth are not opened, nor is a figure met again, except on
// the marked path. `sources`: of inputs, by path.
std::string DerivationText(const Json& explanations, const Json& sources, std::string_view path);

}  // namespace slipstick
