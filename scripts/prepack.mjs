/**
 * Puts the README and the licence of the repository beside the package that is about to be packed.
 * npm runs it by `prepack`, in the folder of the package; the copies are not committed.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from './lib/files.mjs';

for (const name of ['README.md', 'LICENSE']) {
  copyFileSync(join(REPOSITORY, name), join(process.cwd(), name));
}
