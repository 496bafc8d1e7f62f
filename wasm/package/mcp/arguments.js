// JSON Schemas of the tools' arguments, from the package's schema where it has them, and the check of arguments. The
// core checks their values.
import { get } from '../page/state/paths.js';
import { MAIN_INPUTS } from './figures.js';
import { issue } from './scenario.js';

const WITH_UNIT = 'a text has its unit, such as ';

// A quantity is a text with its unit, so nobody has to guess the unit.
export const withUnit = (description, example) => ({
  type: 'string',
  pattern: '[A-Za-z$%]',
  examples: [example],
  description: `${description}; a text with its unit`,
});

// The core's schema of a member without the members below it.
function shortened({ properties: _, additionalProperties: __, pattern: ___, ...schema }) {
  const [help, unit] = (schema.description ?? '').split(`; ${WITH_UNIT}`);
  return unit ? withUnit(help, `10 ${unit}`) : schema;
}

// The main inputs by path, from schema.json.
function inputsSchema(schema, described) {
  const presets = new Map(described.inputs.map(({ path, presets }) => [path, presets]));
  const main = MAIN_INPUTS.map((path) => {
    const one = shortened(get(schema.$defs.scenario.properties, path.replaceAll('.', '.properties.')));
    const kind = presets.get(path);
    return [path, kind ? { ...one, description: `${one.description}; an id of the tool presets, kind ${kind}` } : one];
  });
  return {
    type: 'object',
    description:
      'What to evaluate: values by path, such as {"model": "llama-3.1-8b", "cluster.devices": 16, "serving.prompt": "4k"}; objects may be nested. ' +
      'Any path of the tool describe. What is left out follows from what is written',
    properties: Object.fromEntries(main),
    additionalProperties: true,
  };
}

const LINK = { type: 'string', description: 'A link of the page to start from; inputs are written over it' };

// The arguments that describe a scenario: in full, and the short form by which the other tools refer to it.
export const scenarioArguments = (schema, described) => ({ inputs: inputsSchema(schema, described), link: LINK });
export const SCENARIO = {
  inputs: { type: 'object', description: 'The scenario, as for the tool evaluate' },
  link: LINK,
};

const allShortened = (properties) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, one]) => [
      name,
      one.properties ? { ...one, properties: allShortened(one.properties) } : shortened(one),
    ]),
  );
export const sizeArguments = (schema) => allShortened(schema.$defs.size_question.properties);

const TYPES = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  object: (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
  array: Array.isArray,
  null: (value) => value === null,
};

const shown = (value) => JSON.stringify(value)?.slice(0, 80);

function faultsOf(
  path,
  value,
  {
    type,
    enum: choices,
    minimum = -Infinity,
    maximum = Infinity,
    pattern,
    examples,
    items,
    required = [],
    properties,
    additionalProperties,
  },
) {
  const types = [type ?? []].flat();
  const isText = typeof value === 'string';
  if (pattern && !(isText && new RegExp(pattern).test(value)))
    return [issue(path, `Enter a text with its unit, such as ${JSON.stringify(examples[0])}, not ${shown(value)}`)];
  if (types.length && !types.some((name) => TYPES[name](value)))
    return [issue(path, `Must be ${types.join(' or ')}, not ${shown(value)}`)];
  if (choices && !choices.includes(value))
    return [
      issue(
        path,
        `Choose one of ${choices.join(', ')}`,
        choices.map((one) => ({ path, value: one, label: String(one) })),
      ),
    ];
  if (typeof value === 'number' && !(value >= minimum && value <= maximum)) {
    const nearest = Math.min(maximum, Math.max(minimum, value));
    return [
      issue(path, `Enter a number from ${minimum} to ${maximum}`, [{ path, value: nearest, label: String(nearest) }]),
    ];
  }
  if (items && Array.isArray(value)) return value.flatMap((one, at) => faultsOf(`${path}.${at}`, one, items));
  if (!properties || additionalProperties || !TYPES.object(value)) return [];
  const at = (name) => (path ? `${path}.${name}` : name);
  const missing = required
    .filter((name) => value[name] === undefined)
    .map((name) => issue(at(name), `Required: ${properties[name].description}`));
  const unknown = (name) =>
    issue(at(name), `Unknown argument: choose ${Object.keys(properties).join(', ')}`, [
      { path: at(name), label: `leave out ${name}` },
    ]);
  return [
    ...missing,
    ...Object.entries(value).flatMap(([name, one]) =>
      Object.hasOwn(properties, name) ? faultsOf(at(name), one, properties[name]) : [unknown(name)],
    ),
  ];
}

// The errors in the form of a tool's arguments.
export const wrongArguments = (schema, value) => faultsOf('', value, schema);
