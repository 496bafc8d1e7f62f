// What the figures' sources cite, as BibTeX has it: [pattern of a source's words, [kind, key, fields]].
const paper = (key, author, title, year, fields) => ['article', key, { author, title, year, ...fields }];
const arxiv = (key, author, title, year, id) =>
  paper(key, author, title, year, { journal: `arXiv:${id}`, url: `https://arxiv.org/abs/${id}` });
const repository = (key, author, title, path) => [
  'misc',
  key,
  { author: `{${author}}`, title, url: `https://github.com/${path}` },
];

/** @type {[RegExp, any[]][]} */
const REFERENCES = [
  [
    /Grattafiori/,
    arxiv('grattafiori2024llama3', 'Grattafiori, Aaron and others', 'The {Llama} 3 Herd of Models', 2024, '2407.21783'),
  ],
  [
    /Gupta et al/,
    [
      'inproceedings',
      'gupta2022act',
      {
        author: 'Gupta, Udit and others',
        title: '{ACT}: Designing Sustainable Computer Systems With An Architectural Carbon Modeling Tool',
        booktitle: 'ISCA',
        year: 2022,
      },
    ],
  ],
  [
    /\bDaly\b/,
    paper(
      'daly2006checkpoint',
      'Daly, John T.',
      'A higher order estimate of the optimum checkpoint interval for restart dumps',
      2006,
      { journal: 'Future Generation Computer Systems', volume: 22, number: 3 },
    ),
  ],
  [
    /\bYoung, /,
    paper(
      'young1974checkpoint',
      'Young, John W.',
      'A first order approximation to the optimum checkpoint interval',
      1974,
      { journal: 'Communications of the ACM', volume: 17, number: 9 },
    ),
  ],
  [
    /Feng and Ma/,
    [
      'inproceedings',
      'feng2022actuary',
      {
        author: 'Feng, Yinxiao and Ma, Kaisheng',
        title: '{Chiplet Actuary}: A Quantitative Cost Model and Multi-Chiplet Architecture Exploration',
        booktitle: 'DAC',
        year: 2022,
      },
    ],
  ],
  [
    /Hoffmann et al/,
    arxiv(
      'hoffmann2022chinchilla',
      'Hoffmann, Jordan and others',
      'Training Compute-Optimal Large Language Models',
      2022,
      '2203.15556',
    ),
  ],
  [
    /Koren and Koren/,
    paper(
      'koren1998defect',
      'Koren, Israel and Koren, Zahava',
      'Defect tolerance in {VLSI} circuits: techniques and yield analysis',
      1998,
      { journal: 'Proceedings of the IEEE', volume: 86, number: 9 },
    ),
  ],
  [
    /Korthikanti et al/,
    arxiv(
      'korthikanti2022recomputation',
      'Korthikanti, Vijay and others',
      'Reducing Activation Recomputation in Large Transformer Models',
      2022,
      '2205.05198',
    ),
  ],
  [
    /Narayanan et al/,
    arxiv(
      'narayanan2021megatron',
      'Narayanan, Deepak and others',
      'Efficient Large-Scale Language Model Training on {GPU} Clusters Using {Megatron-LM}',
      2021,
      '2104.04473',
    ),
  ],
  [
    /Jiang et al., MegaScale/,
    arxiv(
      'jiang2024megascale',
      'Jiang, Ziheng and others',
      '{MegaScale}: Scaling Large Language Model Training to More Than 10,000 {GPU}s',
      2024,
      '2402.15627',
    ),
  ],
  [
    /Kingma and Ba/,
    arxiv(
      'kingma2015adam',
      'Kingma, Diederik P. and Ba, Jimmy',
      '{Adam}: A Method for Stochastic Optimization',
      2015,
      '1412.6980',
    ),
  ],
  [
    /Dao and Gu/,
    arxiv(
      'dao2024mamba2',
      'Dao, Tri and Gu, Albert',
      'Transformers are {SSM}s: Generalized Models and Efficient Algorithms Through Structured State Space Duality',
      2024,
      '2405.21060',
    ),
  ],
  [
    /FlashAttention(-2| papers)/,
    arxiv(
      'dao2023flashattention2',
      'Dao, Tri',
      '{FlashAttention-2}: Faster Attention with Better Parallelism and Work Partitioning',
      2023,
      '2307.08691',
    ),
  ],
  [
    /FlashAttention(-3|-2 and -3| papers)/,
    arxiv(
      'shah2024flashattention3',
      'Shah, Jay and others',
      '{FlashAttention-3}: Fast and Accurate Attention with Asynchrony and Low-precision',
      2024,
      '2407.08608',
    ),
  ],
  [
    /Sakasegawa/,
    paper(
      'sakasegawa1977queue',
      'Sakasegawa, Hirotaka',
      'An approximation formula {$L_q \\simeq \\alpha \\rho^\\beta / (1 - \\rho)$}',
      1977,
      { journal: 'Annals of the Institute of Statistical Mathematics', volume: 29 },
    ),
  ],
  [
    /Sanders, Speck/,
    paper(
      'sanders2009twotree',
      'Sanders, Peter and Speck, Jochen and Träff, Jesper Larsson',
      'Two-tree algorithms for full bandwidth broadcast, reduction and scan',
      2009,
      { journal: 'Parallel Computing', volume: 35, number: 12 },
    ),
  ],
  [
    /Stapper/,
    paper(
      'stapper1973defect',
      'Stapper, Charles H.',
      'Defect density distribution for {LSI} yield calculations',
      1973,
      { journal: 'IEEE Transactions on Electron Devices', volume: 20, number: 7 },
    ),
  ],
  [
    /Thakur/,
    paper(
      'thakur2005collective',
      'Thakur, Rajeev and Rabenseifner, Rolf and Gropp, William',
      'Optimization of Collective Communication Operations in {MPICH}',
      2005,
      { journal: 'International Journal of High Performance Computing Applications', volume: 19, number: 1 },
    ),
  ],
  [
    /ai-dynamo\/aiconfigurator/,
    repository(
      'aiconfigurator',
      'NVIDIA',
      '{AIConfigurator}: measured kernels, collectives and serving',
      'ai-dynamo/aiconfigurator',
    ),
  ],
  [
    /coreweave\/nccl-tests/,
    repository('coreweave-nccl', 'CoreWeave', '{NCCL} tests and their results', 'coreweave/nccl-tests'),
  ],
  [
    /nanocad-lab\/YAP/,
    repository('yap', 'NanoCAD Laboratory, UCLA', '{YAP}: yield of advanced packages', 'nanocad-lab/YAP'),
  ],
];

const SPECIAL = {
  '\\': '\\textbackslash{}',
  '{': '\\textbraceleft{}',
  '}': '\\textbraceright{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
};
const escaped = (text) => text.replace(/[\\{}~^&%$#_]/g, (one) => SPECIAL[one] ?? `\\${one}`);

// A work without an entry above, if the words have its year or its number on arXiv.
function workOf(words) {
  const [, id, short] = /\barXiv ((\d\d)\d\d\.\d{5})/.exec(words) ?? [];
  const year = id ? `20${short}` : /\b(?:19|20)\d\d\b/.exec(words)?.[0];
  if (!year) return [];
  const key = (id ? `arxiv ${id}` : words)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return [['misc', key, { title: `{${escaped(words)}}`, year, ...(id && { url: `https://arxiv.org/abs/${id}` }) }]];
}

// The works that a source cites. A source that is assumed from a data sheet cites none, even if it names years.
export function referencesOf(source) {
  if (source.startsWith('assumed ')) return [];
  return source.split('; ').flatMap((words) => {
    const named = REFERENCES.filter(([pattern]) => pattern.test(words)).map(([, reference]) => reference);
    return named.length ? named : workOf(words);
  });
}
