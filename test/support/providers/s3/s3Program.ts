/** A real S3 server, built from a Go module. */
import { join } from 'node:path';
import { ensureGoProgram } from '../../cluster/goProgram.ts';
import type { Progress } from '../../process/progress.ts';

/** The program, built when it is not there yet. Throws, with the place of the log, where that fails. */
export function ensureS3Program(progress: Progress): Promise<string> {
  const program = {
    title: 'an S3 server',
    sources: join(import.meta.dirname, 'versitygw'),
    package: 'github.com/versity/versitygw/cmd/versitygw',
    file: 'versitygw',
    cache: 's3',
  };
  return ensureGoProgram(program, progress);
}
