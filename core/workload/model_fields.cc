#include "core/base/field_table.h"
#include "core/workload/model.h"

namespace slipstick {

constexpr FieldRow kMoeFields[] = {
    Of<&Moe::experts>("experts", "Routed experts per layer").Between(2, 4096),
    Of<&Moe::top_k>("top_k", "Experts per token (top-k)").Between(1, 256),
    Of<&Moe::shared_experts>("shared_experts", "Shared experts, which every token visits").Between(0, 64),
    Of<&Moe::expert_ffn>("expert_ffn", "Inner width of one routed expert").Between(0, 1 << 20).Derived(),
    Of<&Moe::shared_ffn>("shared_ffn", "Inner width of all shared experts together")
        .Between(0, 1 << 20)
        .Derived()
        .Advanced(),
    Of<&Moe::latent>(
        "latent",
        "Latent experts: width that a token is projected to before it is dispatched; 0: the hidden size (Nemotron 3)")
        .Label("Latent width of the routed experts")
        .Between(0, 1 << 20)
        .Advanced(),
    Of<&Moe::dense_layers>("dense_layers", "Leading layers with a dense MLP").Between(0, 1024),
    Of<&Moe::moe_every>("moe_every", "MoE layer period: of the other layers, every n-th has experts")
        .Between(1, 64)
        .Advanced(),
    Of<&Moe::router_bias>("router_bias", "The router adds one bias per expert").Advanced(),
    Of<&Moe::shared_gate>("shared_gate", "A gate scales the output of the shared experts (Qwen2-MoE)")
        .Label("Gate on the shared experts")
        .Advanced(),
    Of<&Moe::imbalance>(
        "imbalance",
        "Tokens of the busiest device over the mean: 1 is even; absent: as estimated for the framework or engine")
        .Between(1, 64)
        .Advanced(),
    Of<&Moe::node_limit>("node_limit",
                         "Maximum nodes that a token's experts are on; 0: any (DeepSeek's group-limited routing)")
        .Between(0, 4096)
        .Advanced(),
    Of<&Moe::capacity_factor>("capacity_factor", "Maximum tokens per expert over the mean; 0: dropless")
        .Between(0, 64)
        .Advanced(),
    Of<&Moe::block_scales>("block_scales",
                           "Experts in fp8 have one scale per 128 × 128 block of weights, as most do since "
                           "DeepSeek-V3, not one per tensor or channel")
        .Label("Block scales of fp8 experts")
        .Advanced(),
    Of<&Moe::int4_group>("int4_group",
                         "Weights per scale if the published model has only its routed experts in int4 "
                         "(Kimi-K2-Thinking: 32); 0: int4 covers all linear layers, as in AWQ and GPTQ")
        .Label("Group of the publisher's int4 experts")
        .Between(0, 4096)
        .Advanced()};
constinit const Fields Schema<Moe>::fields(kMoeFields);

constexpr FieldRow kMlaFields[] = {
    Of<&Mla::q_lora_rank>("q_lora_rank", "Rank of the query compression; 0: none").Between(0, 1 << 16),
    Of<&Mla::kv_lora_rank>("kv_lora_rank", "Rank of the cached latent vector").Between(1, 1 << 16),
    Of<&Mla::nope_head_dim>("nope_head_dim", "Head dimension without positions (NoPE)").Between(1, 4096),
    Of<&Mla::rope_head_dim>("rope_head_dim", "Rotary head dimension, shared by the heads").Between(0, 4096),
    Of<&Mla::value_head_dim>("value_head_dim", "Head dimension of values").Between(1, 4096)};
constinit const Fields Schema<Mla>::fields(kMlaFields);

constexpr FieldRow kIndexerFields[] = {
    Of<&Indexer::heads>("heads", "Heads that score the tokens of the context").Between(1, 8192),
    Of<&Indexer::head_dim>("head_dim", "Head dimension; one key of this width per token is cached in fp8")
        .Between(1, 8192),
    Of<&Indexer::top_k>("top_k", "Tokens of the context that a query attends to: those with the best scores")
        .Length()
        .Between(1, 1 << 24),
    Of<&Indexer::block>("block",
                        "Tokens that are selected together, without latent attention (MiniMax-M3); 0: each by itself")
        .Between(0, 1 << 16),
    Of<&Indexer::layers>(
        "layers",
        "Layers that select tokens; the others reuse the selection of one before them (GLM-5.2) or, without latent "
        "attention, attend to all tokens; 0: all")
        .Between(0, 4096)};
constinit const Fields Schema<Indexer>::fields(kIndexerFields);

constexpr FieldRow kCompressedFields[] = {
    Of<&CompressedAttention::q_lora_rank>("q_lora_rank", "Rank of the query compression").Between(1, 1 << 16),
    Of<&CompressedAttention::rope_head_dim>("rope_head_dim",
                                            "Rotary part of a row, in 16 bit whatever the format of the KV cache")
        .Between(0, 4096),
    Of<&CompressedAttention::window>("window", "Last tokens that every layer sees uncompressed")
        .Length()
        .Between(1, 1 << 24),
    Of<&CompressedAttention::ratio>("ratio", "Tokens per entry in the layers whose entries an indexer selects (CSA)")
        .Between(1, 1 << 16),
    Of<&CompressedAttention::heavy_ratio>("heavy_ratio", "Tokens per entry in the layers that see all entries (HCA)")
        .Between(1, 1 << 16),
    Of<&CompressedAttention::heavy_layers>(
        "heavy_layers",
        "Layers that see all entries (HCA); of the others, those without an indexer see the window alone")
        .Between(0, 4096),
    Of<&CompressedAttention::output_groups>("output_groups",
                                            "Groups of heads whose outputs are projected by themselves")
        .Between(1, 4096),
    Of<&CompressedAttention::output_rank>("output_rank", "Rank that a group's outputs are projected to")
        .Between(1, 1 << 16),
    Of<&CompressedAttention::streams>("streams",
                                      "Copies of the residual stream, which hyper-connections (mHC) mix before and "
                                      "after attention and MLP; 1: a plain one")
        .Between(1, 16),
    Of<&CompressedAttention::weights>(
        "weights",
        "Number format of attention's published weights, where the routed experts are served narrower still")};
constinit const Fields Schema<CompressedAttention>::fields(kCompressedFields);

constexpr FieldRow kLinearAttentionFields[] = {
    Of<&LinearAttention::kind>("kind", "Type of the recurrence"),
    Of<&LinearAttention::layers>("layers",
                                 "Layers with linear attention, spread evenly; the others have softmax attention")
        .Between(1, 4096),
    Of<&LinearAttention::heads>("heads", "Value heads").Between(1, 65536),
    Of<&LinearAttention::key_heads>("key_heads", "Key and query heads (groups of B and C); 0: equal to value heads")
        .Between(0, 65536),
    Of<&LinearAttention::head_dim>("head_dim", "Head dimension of values").Between(1, 65536),
    Of<&LinearAttention::state>("state", "Head dimension of keys: a head keeps a state of head_dim × state elements")
        .Between(1, 65536),
    Of<&LinearAttention::convolution>("convolution", "Kernel size of the short convolution; 0: none").Between(0, 64),
    Of<&LinearAttention::step_rank>("step_rank", "Rank of the step-size projection (Mamba-1)").Between(0, 65536),
    Of<&LinearAttention::full_gate>(
        "full_gate", "Kimi delta attention: a full projection of the output gate, not a low-rank one (Kimi K3)")
        .Label("Full output gate")
        .Advanced()};
constinit const Fields Schema<LinearAttention>::fields(kLinearAttentionFields);

constexpr FieldRow kVisionFields[] = {
    Of<&Vision::layers>("layers", "Layers").Between(1, 1024),
    Of<&Vision::hidden>("hidden", "Hidden size").Between(1, 1 << 16),
    Of<&Vision::heads>("heads", "Attention heads; every patch of an image sees all others").Between(1, 1024),
    Of<&Vision::ffn>("ffn", "Inner width of the MLP").Between(1, 1 << 20),
    Of<&Vision::gated>("gated", "The MLP is gated: three matrices instead of two"),
    Of<&Vision::patch>("patch", "Side of a patch in pixels").Between(1, 1024),
    Of<&Vision::merge>("merge", "Patches along the side of a token").Between(1, 64),
    Of<&Vision::projectors>(
        "projectors",
        "Projectors to the language model, two layers each (Qwen3-VL: one, and three for inner layers); "
        "0: pooled, with one small matrix (Gemma 3)")
        .Between(0, 64)};
constinit const Fields Schema<Vision>::fields(kVisionFields);

constexpr FieldRow kModelFields[] = {
    Of<&Model::preset>("preset", "Preset; fields below override it"),
    Of<&Model::name>("name", "Name"),
    Of<&Model::layers>("layers", "Transformer layers").Between(1, 4096).Required(),
    Of<&Model::hidden>("hidden", "Hidden size").Between(8, 1 << 20).Required(),
    Of<&Model::heads>("heads", "Query heads").Between(1, 8192).Required(),
    Of<&Model::kv_heads>("kv_heads", "Key and value heads; fewer than heads: grouped-query attention")
        .Label("KV heads")
        .Between(1, 8192)
        .Derived(),
    Of<&Model::head_dim>("head_dim", "Head dimension").Between(1, 8192).Derived(),
    Of<&Model::ffn>("ffn", "Inner width of the MLP (gate and up each, where gated)")
        .Label("MLP width")
        .Between(1, 1 << 22)
        .Required(),
    Of<&Model::gated>("gated", "The MLP is gated (SwiGLU, GeGLU): three matrices instead of two"),
    Of<&Model::vocab>("vocab", "Vocabulary size").Between(1, 1 << 24).Required(),
    Of<&Model::tied_embeddings>("tied_embeddings", "The LM head shares the embedding matrix"),
    Of<&Model::parallel_attention>("parallel_attention", "Attention and MLP run in parallel (GPT-J)").Advanced(),
    Of<&Model::positions, &Positions::encoding>("position", "Position encoding").Advanced(),
    Of<&Model::positions, &Positions::rows>("max_positions", "Rows of a learned position table; 0: the sequence length")
        .Between(0, 1 << 24)
        .Advanced(),
    Of<&Model::norms, &Norms::kind>("norm", "Norm: RMS norm or layer norm").Advanced(),
    Of<&Model::norms, &Norms::per_layer>("norms_per_layer", "Norms per layer").Between(0, 8).Advanced(),
    Of<&Model::norms, &Norms::after_embedding>("embedding_norm", "Norm after the embedding (BLOOM)").Advanced(),
    Of<&Model::norms, &Norms::queries_and_keys>(
        "qk_norm",
        "Norm of queries and keys: per head with shared weights (Qwen3, Gemma 3), per head with its own weights "
        "(Command R+), or over all heads, for which tensor-parallel ranks exchange sums (OLMo 2, MiniMax-M2)")
        .Label("QK norm")
        .Advanced(),
    Of<&Model::biases>("biases", "Linear layers with a bias").Advanced(),
    Of<&Model::head_bias>("head_bias", "The LM head has a bias (GPT-J, Phi)").Advanced(),
    Of<&Model::attention_sinks>("attention_sinks", "Attention sinks: a learned logit per head (gpt-oss)").Advanced(),
    Of<&Model::moe>("moe", "Mixture of experts instead of the MLP").Label("Mixture of experts"),
    Of<&Model::mla>("mla", "Multi-head latent attention (DeepSeek)").Label("Latent attention (MLA)"),
    Of<&Model::indexer>("indexer",
                        "Sparse attention: an indexer scores the context and attention sees its best tokens "
                        "(DeepSeek-V3.2, GLM-5, MiniMax-M3). "
                        "Training computes attention over the whole context, as while the indexer learns")
        .Label("Sparse attention (indexer)")
        .Advanced(),
    Of<&Model::compressed>("compressed",
                           "Attention to a compressed history: a window of tokens, and beyond it entries of several "
                           "tokens each (DeepSeek V4)")
        .Label("Compressed attention")
        .Advanced(),
    Of<&Model::attention_gate>(
        "attention_gate",
        "A gate on the attention output: part of the query projection (Qwen3-Next); separate with MLA (Kimi K3)")
        .Advanced(),
    Of<&Model::linear_attention>(
        "linear", "Layers with linear attention or a state-space model instead of softmax attention (hybrid models)")
        .Label("Linear attention or state space")
        .Advanced(),
    Of<&Model::mlp_layers>("mlp_layers", "Layers with an MLP, spread evenly; 0: all").Between(0, 4096).Advanced(),
    Of<&Model::window, &SlidingWindow::tokens>("sliding_window",
                                               "Sliding window: tokens that a local layer attends to; 0: all")
        .Length()
        .Between(0, 1 << 28)
        .Advanced(),
    Of<&Model::window, &SlidingWindow::global_every>(
        "global_every", "Every n-th layer attends to all tokens; 0: every layer is local where there is a window")
        .Between(0, 1024)
        .Advanced(),
    Of<&Model::window, &SlidingWindow::kv_heads>(
        "window_kv_heads", "KV heads of the layers with a sliding window; 0: as in the others (Gemma 4)")
        .Label("KV heads, local layers")
        .Between(0, 8192)
        .Advanced(),
    Of<&Model::window, &SlidingWindow::head_dim>(
        "window_head_dim", "Head dimension of the layers with a sliding window; 0: as in the others (Gemma 4)")
        .Label("Head dimension, local layers")
        .Between(0, 8192)
        .Advanced(),
    Of<&Model::keys_as_values>("keys_as_values",
                               "Full-attention layers have no value projection: keys before norm and rotation are the "
                               "values (Gemma 4). Engines cache both")
        .Label("Keys as values (K = V)")
        .Advanced(),
    Of<&Model::shared_kv, &SharedKv::layers>("kv_shared_layers",
                                             "Number of last layers that compute no keys and values but use those of "
                                             "an earlier layer of their kind (Gemma 4 E2B); 0: none")
        .Label("Layers that share a KV cache")
        .Between(0, 4096)
        .Advanced(),
    Of<&Model::shared_kv, &SharedKv::ffn>(
        "kv_shared_ffn", "MLP width of the layers that share a KV cache; 0: as in the others (Gemma 4 E2B)")
        .Label("MLP width, layers that share a KV cache")
        .Between(0, 1 << 22)
        .Advanced(),
    Of<&Model::layer_embeddings, &LayerEmbeddings::width>(
        "layer_embedding",
        "Width of per-layer embeddings: each layer gates its own embedding of the token into its output (Gemma 4 E2B); "
        "0: none")
        .Label("Width of the layers' embeddings")
        .Between(0, 1 << 16)
        .Advanced(),
    Of<&Model::layer_embeddings, &LayerEmbeddings::rows>("layer_embedding_rows",
                                                         "Rows of each layer's table; 0: the vocabulary size")
        .Label("Rows of the layers' embeddings")
        .Between(0, 1 << 24)
        .Advanced(),
    Of<&Model::mtp_layers>("mtp_layers", "Multi-token-prediction (MTP) modules")
        .Label("Multi-token prediction modules")
        .Between(0, 16)
        .Advanced(),
    Of<&Model::vision>("vision", "Vision encoder: makes prompt tokens of images (serving.images)").Advanced(),
    Of<&Model::weights>("weights",
                        "Number format of the published weights, if narrower than 16 bit: the default for serving")
        .Label("Published weights")
        .Advanced(),
    Of<&Model::context>(
        "context",
        "Longest context that the publisher supports; 0: not stated. Limits nothing: longer requests get a warning")
        .Length()
        .Between(0, 1 << 28)
        .Advanced()};
constinit const Fields Schema<Model>::fields(kModelFields);

}  // namespace slipstick
