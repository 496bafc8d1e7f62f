// Every text that the page itself says, in one place. {name} is filled in. What inputs mean is said by the core (help of describe).

const english = {
  'app.name': 'Slipstick',
  'app.tagline': 'a slide rule for LLM systems',
  'app.loading': 'Loading the model of the machine…',
  'app.broken': 'The calculator could not start: {message}. Reload the page; if that does not help, the browser may lack WebAssembly.',
  'app.stopped': 'That scenario stopped the calculator: {message}. Nothing is lost: change an input to go on.',
  'header.copy': 'Copy link', 'header.copied': 'Copied', 'header.theme': 'Theme', 'header.compare': 'Compare', 'header.lessons': 'Lessons',
  'header.export': 'Export', 'header.keep': 'Keep to compare', 'header.kept': 'Kept as {letter}',
  'theme.light': 'Light', 'theme.dark': 'Dark', 'theme.auto': 'As the system',
  'link.field': 'Link to this state', 'link.bad': 'Some of this link could not be used: {list}. The rest is loaded.',
  'link.version': 'it was made by another version', 'link.unknown': '{path} is no input', 'link.unreadable': '{path} is not readable', 'link.long': '{path} is too long', 'link.scene': 'there is no scene {path}',
  'scene.overview': 'Overview', 'scene.train': 'Train', 'scene.serve': 'Serve', 'scene.memory': 'Memory', 'scene.chip': 'Chip', 'scene.compare': 'Compare', 'scene.lessons': 'Lessons', 'scene.method': 'Method',
  'form.title': 'Inputs', 'form.reset': 'reset all', 'form.more': 'More', 'form.shape': 'Shape of the model', 'form.preset': 'Preset', 'form.custom': 'your own', 'form.was': 'was {value}', 'form.takeBack': 'Take {label} back to {value}', 'form.use': 'Use {value}', 'form.none': 'the default', 'form.slider': '{label}, slide rule', 'form.config': 'paste config.json',
  'group.model': 'Model', 'group.cluster': 'Cluster', 'group.training': 'Training', 'group.serving': 'Serving', 'group.cost': 'Cost',
  'issues.title': 'This scenario contradicts itself', 'issues.title.one': 'One input needs a change', 'issues.stale': 'The figures below are those of the last scenario that answered.', 'issues.remove': 'take it back',
  'answers.training': 'Training {tokens}', 'answers.training.none': 'Training', 'answers.serving': 'Serving, batch {batch}', 'answers.serving.none': 'Serving', 'answers.memory': 'Memory while serving', 'answers.cost': 'Silicon and service', 'answers.absent': 'not asked', 'answers.faulty': 'needs a change of input',
  'answers.mfu': '{mfu} of peak · {step} a step', 'answers.doesNotFit': 'does not fit: {message}', 'answers.ttft': 'first token after {ttft}', 'answers.of': 'of {capacity}', 'answers.kv': 'KV cache {kv} · up to {batch} sequences', 'answers.perToken': '/token', 'answers.device': 'a device', 'answers.hour': '{hour} an hour · {tokens} a million tokens', 'answers.hourOnly': '{hour} an hour',
  'sentence.training': 'Training {model} on {count} {device} takes {time} and is held back by {bound}', 'sentence.training.infeasible': 'Training {model} on {count} {device} does not fit',
  'sentence.serving': 'one token takes {time} to serve on {count} of them, held back by {bound}', 'sentence.servingOnly': 'Serving {model} on {count} {device}, one token takes {time}, held back by {bound}', 'sentence.serving.infeasible': 'serving it on {count} of them does not fit', 'sentence.nothing': '{model} on {count} {device}.',
  'bound.compute': 'arithmetic', 'bound.memory': 'memory bandwidth', 'bound.network': 'the network', 'bound.latency': 'fixed costs of kernels and messages', 'bound.bubble': 'the pipeline bubble', 'bound.cache': 'on-chip bandwidth',
  'figure.why': 'why', 'figure.whyOf': 'why {title}',
  'chart.data': 'Show data', 'chart.svg': 'SVG', 'chart.png': 'PNG', 'chart.csv': 'CSV', 'chart.save': 'Save {title} as {kind}',
  'chart.waiting': 'Computing…',
  'why.title': 'Why is {title} {value}?', 'why.none': 'No derivation is recorded for this figure.', 'why.terms': 'What it rests on', 'why.symbol': 'Symbol', 'why.value': 'Value', 'why.from': 'From', 'why.input': 'input', 'why.number': 'explained above', 'why.source': 'Source', 'why.back': 'Back', 'why.close': 'Close', 'why.follow': 'why', 'why.edit': 'change it',
  'part.forward': 'forward', 'part.backward': 'backward', 'part.recompute': 'recomputation', 'part.tp': 'tensor parallel', 'part.cp': 'context parallel', 'part.ep': 'expert parallel', 'part.pp': 'pipeline sends', 'part.dp': 'data parallel', 'part.bubble': 'bubble', 'part.optimizer': 'optimizer', 'part.other': 'other', 'part.weights': 'weights', 'part.gradients': 'gradients', 'part.optimizer_state': 'optimizer state', 'part.activations': 'activations', 'part.kv_cache': 'KV cache', 'part.workspace': 'workspace', 'part.free': 'free',
  'name.step_time_s': 'Step time', 'name.time_to_train_s': 'Time to train', 'name.model_flops_utilization': 'Model FLOPs utilisation', 'name.hardware_flops_utilization': 'Hardware FLOPs utilisation', 'name.tokens_per_s': 'Tokens a second', 'name.tokens_per_s_per_device': 'Tokens a second and device', 'name.tokens_per_s_per_user': 'Tokens a second and user', 'name.energy_j': 'Energy of the run', 'name.cost_usd': 'Cost of the run', 'name.bubble': 'Pipeline bubble', 'name.ttft_s': 'Time to first token', 'name.tpot_s': 'Time per output token', 'name.request_latency_s': 'Whole request', 'name.prefill_s': 'Prefill of one prompt', 'name.decode_step_s': 'Decode step', 'name.cost_usd_per_million_tokens': 'A million tokens', 'name.energy_j_per_token': 'Energy of a token', 'name.kv_cache_bytes_per_token': 'KV cache of a token', 'name.kv_cache_bytes': 'KV cache of the batch', 'name.max_batch': 'Largest batch', 'name.max_context': 'Longest context', 'name.total': 'Peak on a device', 'name.capacity': 'Capacity', 'name.device_usd': 'Bill of a device', 'name.system_usd': 'The system', 'name.device_hour_usd': 'Device-hour', 'name.yield': 'Yield', 'name.dies_per_wafer': 'Dies on a wafer', 'name.die_usd': 'A good die',
  'absent.training': 'Training is not asked in this scenario.', 'absent.serving': 'Serving is not asked in this scenario.', 'absent.cost': 'Cost is not asked in this scenario.', 'absent.ask': 'Ask it', 'absent.faulty': 'There is no answer until the inputs marked in the form agree with each other.', 'absent.part': 'This part has no figures yet.',
  'overview.title': 'What limits this system?', 'overview.lead': 'Where a training step goes, where a decode step goes, what fills the memory, and what the device costs.', 'overview.step': 'A training step', 'overview.token': 'Memory of one device while serving', 'overview.training': 'Memory of the fullest device while training', 'overview.bill': 'The device, part by part', 'overview.open': 'open {scene}',
  'overview.tornado': 'What one change would buy', 'overview.tornado.sub': 'change of {figure} when one input goes 20 % down or up', 'overview.tornado.column': 'Input', 'overview.down': '20 % less', 'overview.up': '20 % more',
  'train.title': 'Where does a training step of {time} go?', 'train.lead': 'Each row is a pipeline stage, time runs to the right. The hatched part is the pipeline bubble: stages with nothing to do.',
  'train.gantt': 'One step, {stages}', 'train.gantt.sub': 'passes of micro-batches through each stage, seconds', 'train.gantt.note': 'Passes {from} to {to} of {all} micro-batches are shown.', 'train.bar': 'The step, part by part', 'train.bar.sub': 'one device’s critical path; communication counts only where nothing hides it', 'train.operators': 'One layer’s operators', 'train.operators.sub': 'FLOP/s against FLOP per byte, both logarithmic; dot size is the share of the time',
  'serve.title': 'How fast is a token, and what holds it back?', 'serve.lead': 'Each dot is an operator of one layer: on the slope it waits for memory, on the flat roof for arithmetic.', 'serve.roofline': 'Roofline: one layer in prefill and in decode', 'serve.roofline.sub': 'FLOP/s of a device against FLOP per byte of memory traffic, both logarithmic', 'serve.batch': 'What a larger batch buys', 'serve.batch.sub': 'tokens a second and device against tokens a second and user; the batch grows along the line', 'serve.perUser': 'tokens a second and user', 'serve.perDevice': 'tokens a second and device',
  'memory.title': 'Does it fit, and what grows?', 'memory.lead': 'Bars are one device’s memory, the red line is what it really offers. Hatched is free.', 'memory.serving': 'Serving: the fullest device', 'memory.training': 'Training: one device of each pipeline stage', 'memory.sub': 'GiB', 'memory.kv': 'KV cache against the length of the context', 'memory.kv.sub': 'of the batch on one device, both axes logarithmic', 'memory.context': 'tokens of prompt', 'memory.stage': 'stage {i}', 'memory.fits': 'It fits: {used} of {capacity}.', 'memory.over': 'It does not fit: {used} of {capacity}.',
  'chip.title': 'What does the silicon cost?', 'chip.lead': 'Dies are cut from a wafer, some are bad, good ones are packaged with memory and tested. A device-hour adds power, cooling, network and hosting over the lifetime.', 'chip.bill': 'The bill of one device', 'chip.hour': 'An hour of a device', 'chip.system': 'The system', 'chip.dies': 'The dies', 'chip.die': 'Die', 'chip.area': 'Area', 'chip.node': 'Node',
  'roofline.x': 'FLOP per byte', 'roofline.y': 'FLOP/s', 'roofline.ridge': 'ridge {value}', 'roofline.prefill': 'prefill', 'roofline.decode': 'decode', 'roofline.layer': 'training', 'roofline.peak': '{value} peak', 'roofline.bandwidth': '{value} memory',
  'column.part': 'Part', 'column.value': 'Value', 'column.share': 'Share', 'column.operator': 'Operator', 'column.phase': 'Phase', 'column.flops': 'FLOP', 'column.bytes': 'Bytes', 'column.time': 'Time', 'column.bound': 'Bound', 'column.stage': 'Stage', 'column.kind': 'Pass', 'column.batchOf': 'Micro-batch', 'column.start': 'Start', 'column.end': 'End', 'column.context': 'Context', 'column.kv': 'KV cache', 'column.batch': 'Batch', 'column.total': 'Total', 'column.capacity': 'Capacity',
  'summary.bar': '{largest} is the largest part with {share} of {total}.', 'summary.gantt': '{stages} stages work through {batches} micro-batches in {time}.', 'summary.roofline': '{memory} of {all} operators are held back by memory, {compute} by arithmetic.', 'summary.lines': 'From {from} at {x0} to {to} at {x1}.', 'summary.tornado': '{input} matters most.',
  'label.tp': 'Tensor parallel', 'label.pp': 'Pipeline stages', 'label.cp': 'Context parallel', 'label.ep': 'Expert parallel', 'label.dp': 'Data parallel', 'label.zero': 'ZeRO stage', 'label.tdp': 'Thermal design power', 'label.moe': 'Mixture of experts', 'label.mla': 'Latent attention (MLA)', 'label.ffn': 'MLP width', 'label.hidden': 'Hidden width', 'label.kv_heads': 'KV heads', 'label.head_dim': 'Head width', 'label.vocab': 'Vocabulary', 'label.attention_dp': 'Attention data parallel', 'label.expert_tp': 'Tensor parallel of experts', 'label.cp_kind': 'Context parallel by', 'label.mtp_layers': 'Multi-token prediction', 'label.qk_norm': 'Norm of queries and keys', 'label.tokens': 'Tokens of the run', 'label.global_batch': 'Global batch', 'label.fp8': 'fp8 rate', 'label.bf16': 'bf16 rate', 'label.fp16': 'fp16 rate', 'label.fp32': 'fp32 rate', 'label.tf32': 'tf32 rate', 'label.int8': 'int8 rate', 'label.fp4': 'fp4 rate', 'label.int4': 'int4 rate',
  'label.cluster.device': 'Device', 'label.cluster': 'Preset', 'label.model': 'Preset', 'label.training.framework': 'Framework', 'label.serving.engine': 'Engine', 'label.cluster.device.memory.bandwidth': 'Memory bandwidth', 'label.cluster.device.memory.capacity': 'Memory capacity', 'label.cluster.device.peak.bf16': 'Peak, bf16', 'label.serving.precision.weights': 'Weights in', 'label.serving.precision.activations': 'Activations in', 'label.serving.precision.kv_cache': 'KV cache in', 'label.training.precision': 'Precision', 'label.serving.mapping.ep': 'Expert groups', 'label.cost.electricity': 'Electricity', 'label.cost.lifetime': 'Written off over',
  'method.title': 'How is each figure made?', 'method.lead': 'Every figure of the report with its formula and its source, as computed for the scenario you have open.', 'method.figure': 'Figure', 'method.source': 'Source',
  'undo.done': 'Undone.', 'skip.scene': 'Skip to the scene', 'skip.inputs': 'Skip to the inputs',
};

let table = english;

export function t(key, values = {}) {
  const text = table[key];
  if (text === undefined) return key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
export const has = (key) => Object.hasOwn(table, key);

const ACCENTS = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', A: 'Á', E: 'É', I: 'Í', O: 'Ó', U: 'Ú', n: 'ñ', c: 'ç', s: 'š', y: 'ý' };

// A made-up language, accented and longer, that shows what a translation would break.
export function usePseudoLocale() {
  table = Object.fromEntries(
    Object.entries(english).map(([key, text]) => {
      const accented = text.replace(/\{\w+\}|[a-zA-Z]/g, (one) => (one.length > 1 ? one : (ACCENTS[one] ?? one)));
      return [key, `${accented}${'·'.repeat(Math.ceil(text.length * 0.4))}`];
    }),
  );
}

// The text split where the values stand: [text, {name}, text, …], for sentences whose figures are elements.
export function pieces(key, values) {
  return (table[key] ?? key).split(/(\{\w+\})/).map((piece) => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    return name && name in values ? values[name] : piece;
  });
}
