// The clusters that serve a traffic, cheapest first, and why the others do not.
import { columnHeads, h } from '../dom.js';
import { number, text, whole } from '../text/format.js';
import { costOf } from './sizing.js';
import { pieces } from '../text/strings.js';
import { t } from './texts.js';

export const strong = (words) => h('b', {}, words);
export const percent = (share) => text(Math.max(0, Math.round(share * 100) / 100), '%');
export const dollars = (usd) => text(usd, '$');
const milliseconds = (seconds) => number(seconds * 1000);

// `holding`: the answers that meet the targets, cheapest first; `nameOf(answer)`, `deviceOf(cluster)` give names.
export function tableOf(answers, holding, { chosen, deviceOf, nameOf, onchoose, onuse }) {
  const columns = ['gpus', 'replicas', 'hour', 'tokens', 'utilization', 'ttft', 'tpot', 'breaks'];
  const misses = answers.filter(({ holds }) => !holds);
  const first = holding.find(({ cluster }) => cluster === chosen) ?? holding[0];
  return [
    h(
      'div',
      { class: 'headrow' },
      h('h2', {}, t('size.table')),
      first &&
        h(
          'button',
          {
            'type': 'button',
            'class': 'primary apply',
            'data-key': 'size-use',
            'id': 'size-use',
            'onclick': () => onuse(first),
          },
          t('size.use', { cluster: nameOf(first) }),
        ),
    ),
    holding.length > 0 &&
      h(
        'table',
        { class: 'size-table' },
        h('caption', { class: 'visually-hidden' }, t('size.table')),
        columnHeads(columns.map((one) => t(`size.column.${one}`))),
        h(
          'tbody',
          {},
          holding.map((one) => row(one, columns, { isChosen: one.cluster === chosen, name: nameOf(one), onchoose })),
        ),
      ),
    first?.classes && classesOf(first.classes, t('size.classes', { cluster: nameOf(first) })),
    first?.classes && h('p', { class: 'note' }, t('size.classes.note')),
    first && twoPools(first, onuse, nameOf(first)),
    misses.length > 0 &&
      h(
        'ul',
        { class: 'note size-misses' },
        misses.map((one) =>
          h(
            'li',
            {},
            strong(deviceOf(one.cluster)),
            `: ${one.message}.`,
            one.two_pools?.holds && [
              ' ',
              t('size.pools.only', {
                prefill: whole(one.two_pools.deployment.prefill_devices),
                decode: whole(one.two_pools.deployment.decode_devices),
                cost: dollars(one.two_pools.cost.usd_per_hour),
              }),
            ],
          ),
        ),
      ),
    h('p', { class: 'note' }, t('size.note')),
  ];
}

// The latencies of each class of requests, and its share of the devices.
function classesOf(classes, title) {
  const columns = ['name', 'share', 'ttft', 'tpot', 'tokens', 'cost', 'price'];
  const cells = (one) => ({
    share: percent(one.share),
    ttft: milliseconds(one.ttft_s),
    tpot: milliseconds(one.tpot_s),
    tokens: percent(one.token_share),
    cost: percent(one.cost_share),
    price: dollars(one.usd_per_million_output_tokens),
  });
  return [
    h('h3', { class: 'ex-sub' }, title),
    h(
      'table',
      { class: 'size-table size-classes' },
      h('caption', { class: 'visually-hidden' }, title),
      columnHeads(columns.map((one) => t(`size.class.${one}`))),
      h(
        'tbody',
        {},
        classes.map((one) =>
          h(
            'tr',
            {},
            h(
              'th',
              { scope: 'row' },
              t('size.class', { prompt: whole(one.prompt_tokens), output: whole(one.output_tokens) }),
            ),
            Object.entries(cells(one)).map(([column, words]) =>
              h('td', { 'data-name': t(`size.class.${column}`) }, words),
            ),
          ),
        ),
      ),
    ),
  ];
}

// The cost of separate prefill and decode pools, and if it is lower the latencies of the classes there.
function twoPools({ cluster, two_pools: pools }, onuse, name) {
  if (!pools.holds) return h('p', { class: 'note' }, t('size.pools.not', { message: pools.message }));
  const { deployment, cost, saves, remarks, day, classes } = pools;
  const use = () => onuse({ cluster, overrides: pools.overrides });
  const compared = h(
    'p',
    { id: 'size-pools' },
    pieces(`size.pools.${saves > 0 ? 'less' : saves < 0 ? 'more' : 'same'}`, {
      prefill: whole(deployment.prefill_devices),
      decode: whole(deployment.decode_devices),
      cost: strong(dollars(cost.usd_per_hour)),
      share: text(Math.abs(Math.round(saves * 100) / 100), '%'),
    }),
    day && [' ', t('size.pools.day', { share: percent(day.idle_share) })],
    ' ',
    saves > 0 &&
      h(
        'button',
        { 'type': 'button', 'class': 'link', 'data-key': 'size-pools-use', 'onclick': use },
        t('size.pools.use'),
      ),
  );
  const notes = remarks.map((remark) => h('p', { class: 'note' }, remark));
  return [compared, notes, saves > 0 && classes && classesOf(classes, t('size.classes.pools', { cluster: name }))];
}

function row(one, columns, { isChosen, name, onchoose }) {
  const { deployment, at_peak: peak, cost, headroom } = one;
  const mapping = ['tp', 'pp', 'ep']
    .filter((degree) => degree === 'tp' || deployment.mapping[degree] > 1)
    .map((degree) => `${degree.toUpperCase()} ${deployment.mapping[degree]}`);
  const cells = {
    replicas: [
      `${whole(deployment.replicas + deployment.spare_replicas)} × ${mapping.join(' ')}`,
      deployment.idle_devices > 0 && t('size.idle', { count: whole(deployment.idle_devices) }),
    ],
    hour: [dollars(costOf(one))],
    tokens: [dollars(cost.usd_per_million_output_tokens)],
    utilization: [percent(peak.utilization), one.day && t('size.day', { share: percent(one.day.idle_share) })],
    ttft: [milliseconds(peak.ttft_s)],
    tpot: [milliseconds(peak.tpot_s)],
    breaks: [
      t(`size.breaks.${headroom.breaks_first}`),
      t('size.headroom', { rate: text(headroom.requests_per_s, ''), more: percent(headroom.traffic) }),
    ],
  };
  return h(
    'tr',
    { 'class': isChosen ? 'chosen' : undefined, 'data-cluster': one.cluster },
    h(
      'th',
      { scope: 'row' },
      h(
        'button',
        {
          'type': 'button',
          'class': 'link',
          'data-key': `size-row-${one.cluster}`,
          'aria-pressed': String(isChosen),
          'onclick': () => onchoose(one.cluster),
        },
        name,
      ),
    ),
    columns
      .slice(1)
      .map((column) =>
        h(
          'td',
          { 'data-name': t(`size.column.${column}`), 'class': column === 'hour' ? 'first' : undefined },
          cells[column][0],
          cells[column][1] && h('small', {}, cells[column][1]),
        ),
      ),
  );
}
