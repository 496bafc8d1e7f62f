#include "core/engine_step/served_product.h"

#include <array>

namespace slipstick {
namespace {

// In the order of ProductId.
constexpr std::array kServed{
    ServedProduct{"QKV projection", "Query, key and value projection"},
    ServedProduct{"query projection", "Up-projection of queries"},
    ServedProduct{"latent projection", "Down-projection of queries, keys and values"},
    ServedProduct{"query projection", "Up-projection of queries"},
    ServedProduct{"latent projection", "Down-projection of keys and values"},
    ServedProduct{"KV up-projection", "Up-projection of keys and values"},
    ServedProduct{"compressor", "Rows of the compressed history and their weights", "whole on every device"},
    ServedProduct{"indexer projection", "Projection of the indexer's queries", "whole on every device"},
    ServedProduct{"indexer projection", "Projection of the indexer's keys and head weights", "whole on every device"},
    ServedProduct{"output gate", "Projection of the gate on latent attention's output"},
    ServedProduct{"output projection", "Output projection of each group of heads"},
    ServedProduct{"output projection", "Output projection of attention"},
    ServedProduct{"local QKV projection", "Query, key and value projection of a local layer"},
    ServedProduct{"local query projection", "Query projection of a local layer that shares a KV cache"},
    ServedProduct{"local output projection", "Output projection of a local layer"},
    ServedProduct{"hyper-connections", "Weights with which residual streams are mixed", "in 16 bit"},
    ServedProduct{"recurrence input projection", "Input projection of the recurrence",
                  "values, gates, keys, queries and decays together"},
    ServedProduct{"recurrence output projection", "Output projection of the recurrence"},
    ServedProduct{"state projection", "Projection to time steps and states"},
    ServedProduct{"step projection", "Up-projection of the time steps"},
    ServedProduct{"decay projection", "Up-projection of the decays"},
    ServedProduct{"gate projection", "Up-projection of the gates"},
    ServedProduct{"gate+up projection", "Up projection of the MLP", "with its gate, if it has one"},
    ServedProduct{"down projection", "Down projection of the MLP"},
    ServedProduct{"router", "Router", "in 16 bit"},
    ServedProduct{"experts", "Routed experts"},  // timed with the routing and the next
    ServedProduct{"", "Down projection of the routed experts"},
    ServedProduct{"shared experts, gate+up", "Gate and up projection of the shared experts"},
    ServedProduct{"shared experts, down", "Down projection of the shared experts"},
    ServedProduct{"expert down projection", "Projection to the width of latent experts", "whole on every device"},
    ServedProduct{"expert up projection", "Projection back from the width of latent experts", "whole on every device"},
    ServedProduct{"layer embeddings", "Projection to the embeddings of all layers"},
    ServedProduct{"layer embeddings", "Gate of a layer's embedding", "whole on every device"},
    ServedProduct{"layer embeddings", "Projection back from a layer's embedding", "whole on every device"},
    ServedProduct{"LM head", "LM head", "in 16 bit"},
};
static_assert(kServed.size() == static_cast<std::size_t>(ProductId::kHead) + 1);

}  // namespace

const ServedProduct& ServedAs(ProductId id) { return kServed[static_cast<std::size_t>(id)]; }

}  // namespace slipstick
