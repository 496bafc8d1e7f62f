// Which lessons were done: kept in this browser only, forgotten where storage is refused.
const KEY = 'lessons';
let ids;

function load() {
  try {
    ids ??= new Set(JSON.parse(localStorage.getItem(KEY) ?? '[]'));
  } catch {
    ids ??= new Set();
  }
  return ids;
}

export const done = (id) => load().has(id);

export function markDone(id) {
  if (load().has(id)) return;
  ids.add(id);
  try {
    localStorage.setItem(KEY, JSON.stringify([...ids]));
  } catch {
    // Kept for as long as the page is open.
  }
}
