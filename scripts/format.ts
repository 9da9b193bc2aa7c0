/** Formats the whole repository. `npm run format`. */
import { bin, run } from './run.ts';

process.exitCode = await run(bin('biome'), ['format', '--write', '.']);
