// How a report's figures came to be: each with its formula, its terms and what they come from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/trace.h"

namespace slipstick {

// The explanation of one figure and of those that it rests on, itself first; of all for "*". Empty if the report has no such number.
// A term's `share` is by how many per cent the figure moves when the term moves by one: in a sum, the part that the term is. Terms that
// `lead` are on the path of the largest shares, from the figure asked for down to an input.
Json WriteExplanations(const std::vector<Figure>& figures, std::string_view path);

// The explanations of one figure as a tree in Markdown: at most seven terms a level, the largest share first. Parts of less than a
// twentieth of the figure and levels below the fifth are not opened, except on the path of the largest shares; nor is a figure met again.
// `sources`: of inputs, by path.
std::string DerivationText(const Json& explanations, const Json& sources, std::string_view path);

}  // namespace slipstick
