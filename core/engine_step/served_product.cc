#include "core/engine_step/served_product.h"

#include <array>

namespace slipstick {
namespace {

// In the order of ProductId.
constexpr std::array kServed{
    ServedProduct{"QKV projection", "qkv", "query_key_value", "Query, key and value projection"},
    ServedProduct{"query projection", "query", "query", "Up-projection of queries"},
    ServedProduct{"latent projection", "compress", "compress", "Down-projection of queries, keys and values"},
    ServedProduct{"query projection", "query", "query", "Up-projection of queries"},
    ServedProduct{"latent projection", "latent_projection", "latent_projection", "Down-projection of keys and values"},
    ServedProduct{"KV up-projection", "expand", "expansion", "Up-projection of keys and values"},
    ServedProduct{"compressor", "compressor", "compressor", "Rows of the compressed history and their weights",
                  "whole on every device"},
    ServedProduct{"indexer projection", "index_query", "index_query", "Projection of the indexer's queries",
                  "whole on every device"},
    ServedProduct{"indexer projection", "index_key", "index_key", "Projection of the indexer's keys and head weights",
                  "whole on every device"},
    ServedProduct{"output gate", "output_gate", "output_gate", "Projection of the gate on latent attention's output"},
    ServedProduct{"output projection", "output_groups", "output_groups", "Output projection of each group of heads"},
    ServedProduct{"output projection", "output", "attention_output", "Output projection of attention"},
    ServedProduct{"local QKV projection", "local_qkv", "local_query_key_value",
                  "Query, key and value projection of a local layer"},
    ServedProduct{"local query projection", "local_query", "local_query",
                  "Query projection of a local layer that shares a KV cache"},
    ServedProduct{"local output projection", "local_output", "local_output", "Output projection of a local layer"},
    ServedProduct{"hyper-connections", "streams", "streams", "Weights with which residual streams are mixed",
                  "in 16 bit"},
    ServedProduct{"recurrence input projection", "recurrent_in", "recurrent_in", "Input projection of the recurrence",
                  "values, gates, keys, queries and decays together"},
    ServedProduct{"recurrence output projection", "recurrent_out", "recurrent_out",
                  "Output projection of the recurrence"},
    ServedProduct{"state projection", "states", "steps_and_states", "Projection to time steps and states"},
    ServedProduct{"step projection", "steps", "steps_up", "Up-projection of the time steps"},
    ServedProduct{"decay projection", "decays", "decays_up", "Up-projection of the decays"},
    ServedProduct{"gate projection", "gates", "gates_up", "Up-projection of the gates"},
    ServedProduct{"gate+up projection", "mlp_in", "mlp_in", "Up projection of the MLP", "with its gate, if it has one"},
    ServedProduct{"down projection", "mlp_out", "mlp_out", "Down projection of the MLP"},
    ServedProduct{"router", "router", "router", "Router", "in 16 bit"},
    ServedProduct{"experts", "experts", "routed", "Routed experts"},  // timed with the routing and the next
    ServedProduct{"", "experts_out", "routed_out", "Down projection of the routed experts"},
    ServedProduct{"shared experts, gate+up", "shared_in", "shared_in", "Gate and up projection of the shared experts"},
    ServedProduct{"shared experts, down", "shared_out", "shared_out", "Down projection of the shared experts"},
    ServedProduct{"expert down projection", "experts_down", "experts_down", "Projection to the width of latent experts",
                  "whole on every device"},
    ServedProduct{"expert up projection", "experts_up", "experts_up",
                  "Projection back from the width of latent experts", "whole on every device"},
    ServedProduct{"layer embeddings", "layer_inputs", "layer_inputs", "Projection to the embeddings of all layers"},
    ServedProduct{"layer embeddings", "layer_gate", "layer_gate", "Gate of a layer's embedding",
                  "whole on every device"},
    ServedProduct{"layer embeddings", "layer_output", "layer_output", "Projection back from a layer's embedding",
                  "whole on every device"},
    ServedProduct{"LM head", "product", "output_matrix", "LM head", "in 16 bit"},
};
static_assert(kServed.size() == static_cast<std::size_t>(ProductId::kHead) + 1);

}  // namespace

const ServedProduct& ServedAs(ProductId id) { return kServed[static_cast<std::size_t>(id)]; }

}  // namespace slipstick
