// The files of the project.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of the files below a folder whose names match, without installed packages. */
export function filesBelow(folder, name) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path, name);
    return name.test(entry.name) ? [path] : [];
  });
}
