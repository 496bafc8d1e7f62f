// The values that the core's messages name as the nearest that would do, as changes of inputs: [{text, set: {path: value}}].
const MOST = 4;

// One stage is not interleaved.
const unrolled = (set) =>
  set['training.mapping.pp'] === '1' ? { ...set, 'training.mapping.virtual_stages': '1' } : set;

export function fixesOf({ path, message }) {
  const together = /nearest ((?:[a-z_]+ \d+(?:, )?){2,})/.exec(message);
  if (together) {
    const set = Object.fromEntries([...together[1].matchAll(/([a-z_]+) (\d+)/g)].map(([, member, value]) => [`${path}.${member}`, value]));
    return [{ text: together[1].trim(), set: unrolled(set) }];
  }
  const named = [...message.matchAll(/; ([a-z_]+) nearest (\d+)(?: or (\d+))?/g)];
  if (named.length)
    return named
      .flatMap(([, member, ...values]) =>
        values.filter(Boolean).map((value) => ({ text: `${member} ${value}`, set: unrolled({ [`${path}.${member}`]: value }) })),
      )
      .slice(0, MOST);
  const tail = /(?:nearest|at most the cluster's|^expected(?= \d+ where))\b[^0-9]*((?:\d+(?:, | and | or )?)+)/i.exec(message)?.[1] ?? '';
  return [...new Set(tail.match(/\d+/g) ?? [])].slice(0, MOST).map((value) => ({ text: value, set: { [path]: value } }));
}
