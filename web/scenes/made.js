// An image or clip of a diffusion transformer: where its time goes, and its figures.
/** @import {Context} from '../types.js' */
import { stackedBars } from '../charts/bars.js';
import { h } from '../dom.js';
import { figures } from '../report/figures.js';
import { nameOf } from '../report/names.js';
import { text, whole } from '../text/format.js';
import { infeasible } from './parts.js';
import { t } from './texts.js';

const FIGURES = ['latency_s', 'step_s', 'items_per_hour', 'memory_bytes.total', 'cost_usd', 'energy_j'];

// The parts with their colors, which everybody can distinguish side by side.
const PARTS = {
  products: 'gemm',
  attention: 'attention',
  communication: 'reduce',
  row_kernels: 'launch',
  launches: 'quiet',
  decoder: 'scheduler',
  text_encoder: 'others',
  copies: 'memory',
};

/** @param {Context} context */
export function made(context) {
  const part = context.report.diffusion;
  const { steps } = context.scenario.diffusion;
  const isVideo = part.video_s_per_hour != null;
  const time = context.hidden ? '…' : text(part.latency_s, 's');
  return [
    h(
      'h1',
      { class: 'question', tabindex: -1 },
      part.feasible ? t(isVideo ? 'made.clip' : 'made.image', { time }) : t('made.void'),
    ),
    infeasible(part, t('infeasible.asIf')),
    stackedBars({
      id: 'made-bar',
      title: nameOf('diffusion.latency_s'),
      subtitle: t('made.sub', {
        steps: whole(steps),
        tokens: whole(part.tokens),
        parameters: text(part.parameters, ' parameters'),
      }),
      width: context.width,
      unit: 's',
      rows: [
        {
          parts: Object.entries(PARTS).map(([id, color]) => ({
            id,
            name: t(`made.${id}`),
            value: part.time_s[id] ?? 0,
            color: `var(--c-${color})`,
          })),
        },
      ],
      onpart: (id) => context.why(`diffusion.time_s.${id}`),
    }),
    figures(
      context,
      [...FIGURES, ...(isVideo ? ['video_s_per_hour'] : [])].map((id) => `diffusion.${id}`),
    ),
  ];
}
