#include "core/base/field_table.h"
#include "core/workload/model.h"

namespace slipstick {

constexpr FieldRow kMoeFields[] = {
    Of<&Moe::experts>("experts", "Routed experts in a layer").Between(2, 4096),
    Of<&Moe::top_k>("top_k", "Routed experts a token visits").Between(1, 256),
    Of<&Moe::shared_experts>("shared_experts", "Experts that every token visits").Between(0, 64),
    Of<&Moe::expert_ffn>("expert_ffn", "Inner width of one routed expert").Between(0, 1 << 20).Derived(),
    Of<&Moe::shared_ffn>("shared_ffn", "Inner width of all shared experts together").Between(0, 1 << 20).Derived().Advanced(),
    Of<&Moe::dense_layers>("dense_layers", "Leading layers with a dense MLP").Between(0, 1024),
    Of<&Moe::moe_every>("moe_every", "Of the other layers, every n-th has experts").Between(1, 64).Advanced(),
    Of<&Moe::router_bias>("router_bias", "The router adds a bias an expert").Advanced(),
    Of<&Moe::shared_gate>("shared_gate", "A gate scales what the shared experts add (Qwen2-MoE)").Advanced(),
    Of<&Moe::imbalance>("imbalance", "Tokens of the busiest device over the mean").Between(1, 64).Advanced(),
    Of<&Moe::node_limit>("node_limit", "Nodes that a token's experts may lie on; 0: any (DeepSeek's group-limited routing)")
        .Between(0, 4096)
        .Advanced(),
    Of<&Moe::capacity_factor>("capacity_factor", "Most tokens an expert takes, over the mean; 0 drops none").Between(0, 64).Advanced()};
constinit const Fields Schema<Moe>::fields(kMoeFields);

constexpr FieldRow kMlaFields[] = {
    Of<&Mla::q_lora_rank>("q_lora_rank", "Rank of the query's compression; 0: none").Between(0, 1 << 16),
    Of<&Mla::kv_lora_rank>("kv_lora_rank", "Rank of the cached latent").Between(1, 1 << 16),
    Of<&Mla::nope_head_dim>("nope_head_dim", "Width of a head's part without positions").Between(1, 4096),
    Of<&Mla::rope_head_dim>("rope_head_dim", "Width of a head's rotary part, shared by the heads").Between(0, 4096),
    Of<&Mla::value_head_dim>("value_head_dim", "Width of a head's value").Between(1, 4096)};
constinit const Fields Schema<Mla>::fields(kMlaFields);

constexpr FieldRow kLinearAttentionFields[] = {
    Of<&LinearAttention::kind>("kind", "Which recurrence"),
    Of<&LinearAttention::layers>("layers", "Layers that have it; the others attend, spread evenly").Between(1, 4096),
    Of<&LinearAttention::heads>("heads", "Heads of values").Between(1, 65536),
    Of<&LinearAttention::key_heads>("key_heads", "Heads of keys and queries, groups of B and C; 0: as many as heads").Between(0, 65536),
    Of<&LinearAttention::head_dim>("head_dim", "Width of a head's value").Between(1, 65536),
    Of<&LinearAttention::state>("state", "Width of a key: a head keeps head_dim x state numbers").Between(1, 65536),
    Of<&LinearAttention::convolution>("convolution", "Tokens that the short convolution before it sees; 0: none").Between(0, 64),
    Of<&LinearAttention::step_rank>("step_rank", "Rank of the step size's projection (Mamba-1)").Between(0, 65536)};
constinit const Fields Schema<LinearAttention>::fields(kLinearAttentionFields);

constexpr FieldRow kModelFields[] = {
    Of<&Model::preset>("preset", "Catalogue entry that the other members override"),
    Of<&Model::name>("name", "What to call it"),
    Of<&Model::layers>("layers", "Transformer layers").Between(1, 4096).Required(),
    Of<&Model::hidden>("hidden", "Width of the residual stream").Between(8, 1 << 20).Required(),
    Of<&Model::heads>("heads", "Query heads").Between(1, 8192).Required(),
    Of<&Model::kv_heads>("kv_heads", "Key and value heads; fewer than heads is grouped-query attention").Between(1, 8192).Derived(),
    Of<&Model::head_dim>("head_dim", "Width of a head").Between(1, 8192).Derived(),
    Of<&Model::ffn>("ffn", "Inner width of the MLP (of each of gate and up where gated)").Between(1, 1 << 22).Required(),
    Of<&Model::gated>("gated", "The MLP has a gate (SwiGLU, GeGLU): three matrices in place of two"),
    Of<&Model::vocab>("vocab", "Rows of the token table").Between(1, 1 << 24).Required(),
    Of<&Model::tied_embeddings>("tied_embeddings", "The output matrix is the token table"),
    Of<&Model::parallel_attention>("parallel_attention", "Attention and MLP side by side (GPT-J)").Advanced(),
    Of<&Model::positions, &Positions::encoding>("position", "How positions are encoded").Advanced(),
    Of<&Model::positions, &Positions::rows>("max_positions", "Rows of a learned position table; 0: as many as the sequence")
        .Between(0, 1 << 24)
        .Advanced(),
    Of<&Model::norms, &Norms::kind>("norm", "RMS norm or layer norm").Advanced(),
    Of<&Model::norms, &Norms::per_layer>("norms_per_layer", "Norms in a layer").Between(0, 8).Advanced(),
    Of<&Model::norms, &Norms::after_embedding>("embedding_norm", "A norm after the embedding (BLOOM)").Advanced(),
    Of<&Model::norms, &Norms::queries_and_keys>("qk_norm",
                                                "Queries and keys are normalised, by head (Qwen3, Gemma-3) or over all heads (OLMo-2)")
        .Advanced(),
    Of<&Model::biases>("biases", "Which linear layers add a bias").Advanced(),
    Of<&Model::head_bias>("head_bias", "The output matrix adds a bias (GPT-J, Phi)").Advanced(),
    Of<&Model::attention_sinks>("attention_sinks", "A learned logit a head takes attention from no token (gpt-oss)").Advanced(),
    Of<&Model::moe>("moe", "Mixture of experts in place of the MLP"),
    Of<&Model::mla>("mla", "Multi-head latent attention (DeepSeek)"),
    Of<&Model::attention_gate>("attention_gate", "The queries' projection also makes a gate of the output (Qwen3-Next)").Advanced(),
    Of<&Model::linear_attention>("linear", "Layers with a recurrence of fixed state in place of attention (hybrid models)").Advanced(),
    Of<&Model::mlp_layers>("mlp_layers", "Layers that have an MLP, spread evenly; 0: all").Between(0, 4096).Advanced(),
    Of<&Model::window, &SlidingWindow::tokens>("sliding_window", "Tokens that a local layer attends to; 0: all")
        .Length()
        .Between(0, 1 << 28)
        .Advanced(),
    Of<&Model::window, &SlidingWindow::global_every>("global_every", "Every n-th layer attends to all; 0: no layer where there is a window")
        .Between(0, 1024)
        .Advanced(),
    Of<&Model::mtp_layers>("mtp_layers", "Multi-token-prediction modules").Between(0, 16).Advanced(),
    Of<&Model::context>("context", "Longest context its publisher supports; 0: not stated. Limits nothing")
        .Length()
        .Between(0, 1 << 28)
        .Advanced()};
constinit const Fields Schema<Model>::fields(kModelFields);

}  // namespace slipstick
