#include "core/base/field_table.h"
#include "core/diffusion/diffusion.h"

namespace slipstick {

namespace {

constexpr double kMostTokens = 1 << 20, kMostSide = 1 << 14;

}  // namespace

constexpr auto kDiffusionModelFields = Advanced(
    {Of<&DiffusionModel::preset>("preset", "Preset; fields below override it").Basic(),
     Of<&DiffusionModel::name>("name", "Name"),
     Of<&DiffusionModel::joint_blocks>(
         "joint_blocks",
         "Blocks in which text and image tokens have weights of their own and one attention over both (MMDiT)")
         .Label("Joint blocks")
         .Between(0, 1024),
     Of<&DiffusionModel::single_blocks>(
         "single_blocks",
         "Blocks in which text and image tokens share the weights, and attention and MLP read the same input")
         .Label("Single-stream blocks")
         .Between(0, 1024),
     Of<&DiffusionModel::cross_blocks>("cross_blocks", "Blocks of image tokens, which see the text by cross-attention")
         .Label("Cross-attention blocks")
         .Between(0, 1024),
     Of<&DiffusionModel::dual_blocks>("dual_blocks",
                                      "Joint blocks with a second attention, of the image tokens to each other alone")
         .Label("Joint blocks with a second attention")
         .Between(0, 1024),
     Of<&DiffusionModel::hidden>("hidden", "Hidden size").Between(64, 1 << 16).Required(),
     Of<&DiffusionModel::heads>("heads", "Attention heads").Between(1, 1024).Required(),
     Of<&DiffusionModel::ffn>("ffn", "MLP width").Between(64, 1 << 18).Required(),
     Of<&DiffusionModel::qk_norm>("qk_norm", "Norm of queries and keys"),
     Of<&DiffusionModel::rotary>("rotary", "Rotary embedding of queries and keys"),
     Of<&DiffusionModel::shared_modulation>(
         "shared_modulation", "One projection of the time embedding for all blocks; off: each block has its own")
         .Label("Shared modulation"),
     Of<&DiffusionModel::modulation_width>("modulation_width",
                                           "Width of the time embedding that modulation reads; 0: the hidden size")
         .Label("Modulation width")
         .Between(0, 1 << 16),
     Of<&DiffusionModel::transformers>("transformers",
                                       "Transformers, each of which computes a part of the steps (Wan 2.2 has two)")
         .Label("Transformers")
         .Between(1, 16),
     Of<&DiffusionModel::guided>(
         "guided", "Classifier-free guidance as published: every step has a pass with the prompt and one without")
         .Label("Published guidance"),
     Of<&DiffusionModel::batched_guidance>("batched_guidance",
                                           "Both passes of a guided step run as one batch; off: one after the other")
         .Label("Guidance as one batch"),
     Of<&DiffusionModel::text_tokens>("text_tokens", "Text tokens, to which every prompt is padded")
         .Label("Text tokens")
         .Between(1, kMostTokens),
     Of<&DiffusionModel::text_width>("text_width", "Width of the text encoder")
         .Label("Text width")
         .Between(64, 1 << 16),
     Of<&DiffusionModel::text_parameters>("text_parameters", "Parameters of all text encoders")
         .Label("Text encoder parameters")
         .Between(0, 1e12),
     Of<&DiffusionModel::patch>("patch", "Latent pixels along the side of a token").Label("Patch side").Between(1, 64),
     Of<&DiffusionModel::latent_side>("latent_side", "Pixels along the side of a latent pixel")
         .Label("Spatial compression")
         .Between(1, 64),
     Of<&DiffusionModel::latent_frames>("latent_frames",
                                        "Frames per latent frame, after the first frame; 1: an image model")
         .Label("Temporal compression")
         .Between(1, 64),
     Of<&DiffusionModel::latent_channels>("latent_channels", "Channels of a latent pixel")
         .Label("Latent channels")
         .Between(1, 1024),
     Of<&DiffusionModel::decoder_width>(
         "decoder_width",
         "Channels of the last level of the decoder that turns latents into pixels; the levels before have twice, four "
         "and four times as many")
         .Label("Decoder width")
         .Between(1, 4096),
     Of<&DiffusionModel::steps>("steps", "Denoising steps as published").Label("Published steps").Between(1, 10'000),
     Of<&DiffusionModel::width>("width", "Width as published").Label("Published width").Between(16, kMostSide),
     Of<&DiffusionModel::height>("height", "Height as published").Label("Published height").Between(16, kMostSide),
     Of<&DiffusionModel::frames>("frames", "Frames as published; 1: an image")
         .Label("Published frames")
         .Between(1, kMostSide),
     Of<&DiffusionModel::frames_per_s>("frames_per_s", "Frames per second of video; 0: images")
         .Label("Frames per second")
         .Between(0, 240)});
constinit const Fields Schema<DiffusionModel>::fields(kDiffusionModelFields);

constexpr FieldRow kDiffusionRunFields[] = {
    Of<&DiffusionRun::model>("model", "Diffusion transformer").Label("Diffusion model"),
    Of<&DiffusionRun::steps>("steps", "Denoising steps; default: as published")
        .Label("Denoising steps")
        .Between(1, 10'000),
    Of<&DiffusionRun::width>("width", "Width of the image or clip in pixels; default: as published")
        .Label("Width (pixels)")
        .Between(16, kMostSide),
    Of<&DiffusionRun::height>("height", "Height of the image or clip in pixels; default: as published")
        .Label("Height (pixels)")
        .Between(16, kMostSide),
    Of<&DiffusionRun::frames>("frames", "Frames of the clip; 1: an image; default: as published")
        .Label("Frames")
        .Between(1, kMostSide),
    Of<&DiffusionRun::guided>(
        "guided",
        "Classifier-free guidance: every step has a pass with the prompt and one without; default: as published")
        .Label("Classifier-free guidance"),
    Of<&DiffusionRun::batch>("batch", "Images or clips that are made at once").Label("Batch").Between(1, 4096),
    Of<&DiffusionRun::precision>("precision",
                                 "Format of the transformer's weights and products; attention computes in 16 bit")
        .Label("Transformer format"),
    Of<&DiffusionRun::attention>("attention", "Attention kernel; auto: the device's best").Label("Attention kernel"),
    Of<&DiffusionRun::compiled>(
        "compiled",
        "Compiled (torch.compile, TensorRT): norms, modulation, rotary embedding and gates are one pass each; off: "
        "every operation is a kernel of its own, as PyTorch runs them")
        .Label("Compiled"),
    Of<&DiffusionRun::launch>("launch",
                              "Host time per operation that is not compiled; the devices wait where they are faster")
        .Label("Host time per operation")
        .In(kUs)
        .Between(0, 1'000'000),
    Of<&DiffusionRun::convolutions>("convolutions",
                                    "Rate of the decoder's 3D convolutions, relative to a matrix product")
        .Label("Rate of 3D convolutions")
        .Between(0.01, 1),
    Of<&DiffusionRun::decoder_overlap>(
        "decoder_overlap", "Work of a decoder with overlapping tiles, relative to one without tiles; 1: no tiles")
        .Label("Overlap of the decoder's tiles")
        .Between(1, 64),
    Of<&DiffusionRun::offload>(
        "offload",
        "Text encoder, transformers and decoder take turns in device memory and are copied in from the host (model "
        "offload); off: all stay")
        .Label("Parts take turns in memory"),
    Of<&DiffusionRun::ulysses>(
        "ulysses",
        "Sequence parallelism by heads: ranks exchange tokens for heads before attention and back after it (Ulysses)")
        .Label("Ulysses degree")
        .Between(1, 1024),
    Of<&DiffusionRun::ring>("ring",
                            "Sequence parallelism by tokens: keys and values go around while attention computes (ring)")
        .Label("Ring degree")
        .Between(1, 1024),
    Of<&DiffusionRun::guidance_parallel>("guidance_parallel", "The two passes of a guided step run on separate devices")
        .Label("Guidance parallel"),
    Of<&DiffusionRun::devices>("devices", "Devices; default: those of one replica").Between(1, 1 << 24)};
constinit const Fields Schema<DiffusionRun>::fields(kDiffusionRunFields);

}  // namespace slipstick
