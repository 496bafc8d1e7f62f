// The values of a group in a line or two, shown where the group is folded.
import { deviceName, modelName } from '../report/words.js';
import { text, whole } from '../text/format.js';
import { has, t } from '../text/strings.js';

const degrees = (pairs) =>
  pairs
    .filter(([name, degree]) => degree > 1 || name === 'TP')
    .map(([name, degree]) => `${name} ${degree}`)
    .join(' · ');

const joined = (...all) => all.filter(Boolean).join(' · ');

const choice = (member, id) => (has(`choice.${member}.${id}`) ? t(`choice.${member}.${id}`) : id);

const CHOSEN = {
  model: ({ scenario }) => [modelName(scenario)],
  cluster: ({ scenario }) => [
    t('chosen.cluster', { count: whole(scenario.cluster.devices), device: deviceName(scenario) }),
  ],
  training({ scenario: { training } }) {
    const { mapping = {}, precision, sequence, global_batch: batch } = training;
    const { tp, cp, ep, pp, virtual_stages: virtual, dp, zero } = mapping;
    const stages = pp > 1 && (virtual > 1 ? `PP ${pp} × ${virtual}` : `PP ${pp}`);
    return [
      joined(
        degrees([
          ['TP', tp],
          ['CP', cp],
          ['EP', ep],
        ]),
        stages,
        dp > 0 && `DP ${dp}`,
        zero > 0 && `ZeRO-${zero}`,
      ),
      joined(
        choice('precision', precision),
        t('chosen.sequence', { tokens: whole(sequence) }),
        t('chosen.batch', { count: whole(batch) }),
      ),
    ];
  },
  serving({ scenario: { serving, cluster } }) {
    const { mapping = {}, devices, engine, precision = {}, prompt, output } = serving;
    const { tp, pp, ep } = mapping;
    return [
      joined(
        degrees([
          ['TP', tp],
          ['PP', pp],
          ['EP', ep],
        ]),
        t('chosen.devices', { count: whole(devices ?? cluster.devices) }),
      ),
      joined(
        engine?.name,
        t('chosen.weights', { kind: choice('weights', precision.weights) }),
        t('chosen.tokens', { prompt: whole(prompt), output: whole(output) }),
      ),
    ];
  },
  post_training({ scenario: { post_training: asked } }) {
    const { algorithm, placement, prompts, responses_per_prompt: responses, steps_off: stepsOff } = asked;
    return [
      joined(choice('algorithm', algorithm), choice('placement', placement), stepsOff > 0 && t('chosen.off')),
      t('chosen.samples', { prompts: whole(prompts), responses: whole(responses) }),
    ];
  },
  diffusion({ scenario: { diffusion } }) {
    const { model, steps, width, height, frames, ulysses, ring } = diffusion;
    return [
      model.name,
      joined(
        t('chosen.pixels', { width: whole(width), height: whole(height) }),
        frames > 1 && t('chosen.frames', { count: whole(frames) }),
        t('chosen.steps', { count: whole(steps) }),
        ulysses > 1 && `Ulysses ${ulysses}`,
        ring > 1 && `ring ${ring}`,
      ),
    ];
  },
  cost({ scenario: { cost }, report }) {
    const price = report?.cost?.device_price_usd;
    return [
      joined(
        price != null && t('chosen.price', { price: `$${whole(price)}` }),
        text(cost.lifetime, 's'),
        t('chosen.electricity', { price: text(cost.electricity * 3.6e6, '$') }),
      ),
    ];
  },
};

// The parallelism of a part in words: "TP 4 · CP 2 · DP 64".
export function mappingIn(part, { scenario }) {
  const { tp, cp, ep, pp, dp } = scenario[part]?.mapping ?? {};
  return degrees([
    ['TP', tp],
    ['CP', cp],
    ['EP', ep],
    ['PP', pp],
    ['DP', dp],
  ]);
}

// {lines, isAuto: whether the mapping is chosen}; none if the part is off or not resolved yet.
export function chosenIn(id, { scenario, report }) {
  if (report && scenario[id] === null) return { lines: [t('answers.absent')], isAuto: false };
  if (!report || !scenario[id] || !Object.keys(scenario[id]).length) return { lines: [], isAuto: false };
  return { lines: CHOSEN[id]({ scenario, report }).filter(Boolean), isAuto: report[id]?.chosen?.length > 0 };
}
