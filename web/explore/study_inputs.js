// A study's request as inputs, so that the page computes the study's scenario.

// {"a": {"preset": "x", "b": 1}} as the inputs of a link: {"a": "x", "a.b": "1"}
export function flat(json, path = '', inputs = {}) {
  if (json !== null && typeof json === 'object' && !Array.isArray(json)) {
    for (const [member, value] of Object.entries(json)) {
      if (member === 'preset') inputs[path] = value;
      else flat(value, path ? `${path}.${member}` : member, inputs);
    }
  } else inputs[path.replace(/\.preset$/, '')] = typeof json === 'string' ? json : JSON.stringify(json);
  return inputs;
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

// The default of a described input as a text.
function defaultText(fields, path) {
  const named = (one) => fields.find((field) => field.path === one);
  const value = (named(path)?.presets ? named(`${path}.preset`) : named(path))?.default;
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

// A whole request as inputs over the first default scenario, which leaves no mapping to be chosen, as a request does not. Inputs are laid over it member by member, but what a written part leaves out
// is the field's default: so the members that the default scenario sets there are set back, but of a mapping that is chosen. `fields`: the described inputs.
export function inputsOf(defaults, request, fields) {
  const inputs = { version: '1' };
  const setBack = (json, given, path) => {
    for (const [member, value] of Object.entries(json)) {
      const at = `${path}.${member}`;
      if (given?.[member]?.auto === true) continue; // a mapping that is chosen
      if (isObject(value) && !('preset' in value)) setBack(value, given?.[member], at);
      else if (given?.[member] === undefined) inputs[at] = defaultText(fields, at);
    }
  };
  for (const [part, value] of Object.entries(defaults[1]))
    if (isObject(request[part]) && isObject(value)) setBack(value, request[part], part);
  return { ...inputs, ...flat(request) };
}
