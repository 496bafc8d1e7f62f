// A config.json without a name is recognized as the catalogue's model of the same shape, experts and latent attention
// included.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { haveSameShape } from '../../web/report/same_shape.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const { inputs } = JSON.parse(slipstick.describe());
const models = JSON.parse(slipstick.presets('model'));
const named = (config) => {
  const { model } = JSON.parse(slipstick.importModel(JSON.stringify(config)));
  return models.find((entry) => haveSameShape(entry, model, inputs))?.id;
};

const QWEN = {
  model_type: 'qwen3_moe',
  hidden_size: 2048,
  num_hidden_layers: 48,
  intermediate_size: 6144,
  num_attention_heads: 32,
  num_key_value_heads: 4,
  head_dim: 128,
  num_experts: 128,
  num_experts_per_tok: 8,
  moe_intermediate_size: 768,
  vocab_size: 151936,
  max_position_embeddings: 40960,
  tie_word_embeddings: false,
};
const LITE = {
  model_type: 'deepseek_v2',
  num_hidden_layers: 27,
  hidden_size: 2048,
  num_attention_heads: 16,
  num_key_value_heads: 16,
  intermediate_size: 10944,
  moe_intermediate_size: 1408,
  n_routed_experts: 64,
  n_shared_experts: 2,
  num_experts_per_tok: 6,
  first_k_dense_replace: 1,
  kv_lora_rank: 512,
  qk_nope_head_dim: 128,
  qk_rope_head_dim: 64,
  v_head_dim: 128,
  vocab_size: 102400,
  max_position_embeddings: 163840,
  tie_word_embeddings: false,
};

test('a config.json without a name is the model of its shape', () => {
  assert.equal(named(QWEN), 'qwen3-30b-a3b');
  assert.equal(named(LITE), 'deepseek-v2-lite');
  const llama = {
    model_type: 'llama',
    num_hidden_layers: 32,
    hidden_size: 4096,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    intermediate_size: 14336,
    vocab_size: 128256,
    max_position_embeddings: 131072,
  };
  assert.equal(named(llama), 'llama-3.1-8b');
  assert.ok(named({ ...llama, max_position_embeddings: undefined })); // without a context length the first model of the shape is meant
  assert.equal(named({ ...llama, max_position_embeddings: 4096 }), undefined);
  assert.equal(named({ ...llama, quantization_config: { quant_method: 'fp8' } }), 'llama-3.1-8b');
  for (const other of [
    { ...QWEN, num_experts_per_tok: 4 },
    { ...QWEN, shared_expert_intermediate_size: 768 },
  ])
    assert.equal(named(other), undefined);
  assert.equal(named({ ...LITE, kv_lora_rank: 256 }), undefined);
});
