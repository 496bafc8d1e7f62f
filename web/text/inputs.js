// What the inputs are called, as the core describes them.
let labels = new Map();

export const setInputs = (list) => {
  labels = new Map(list.map(({ path, label }) => [path, label]));
};

// Of any path, in which a number is a place of a list; undefined where the core has no such input.
export const inputLabel = (path) => labels.get(path.replace(/\.\d+(?=\.|$)/g, '.*')) ?? labels.get(path);
