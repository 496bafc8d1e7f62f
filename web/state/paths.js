// Dotted paths into plain JSON: "cluster.networks.1.bandwidth". Only own members are read; no path reaches a prototype.

const PATH = /^[a-z][a-z0-9_]*(\.[a-z0-9][a-z0-9_]*)*$/;
export const isPath = (path) => path.length <= 120 && PATH.test(path);

export function get(json, path) {
  let at = json;
  for (const member of path.split('.')) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, member)) return undefined;
    at = at[member];
  }
  return at;
}

const isPlace = (member) => /^\d{1,2}$/.test(member);

// Sets a member and creates missing parents; new places of an array become {}.
export function set(json, path, value) {
  const members = path.split('.');
  let at = json;
  members.forEach((member, i) => {
    if (Array.isArray(at)) {
      if (!isPlace(member)) return;
      while (at.length < Number(member)) at.push({});
    }
    if (i === members.length - 1) {
      at[member] = value;
      return;
    }
    const next = Object.hasOwn(at, member) ? at[member] : undefined;
    if (next === null || typeof next !== 'object') at[member] = isPlace(members[i + 1]) ? [] : {};
    at = at[member];
  });
}
