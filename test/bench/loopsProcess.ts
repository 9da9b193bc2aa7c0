/** A runner process without a cluster, for the benchmark of loops: its memory is that of the runner alone. */
import { connectRunStore } from '../../store/connection.ts';
import { startTestRunner } from '../support/runner/runnerProject.ts';

const [url = '', project = ''] = process.argv.slice(2);
const conn = connectRunStore({ url, name: 'bench-runner' });
await conn.ready();
startTestRunner(conn, project);
console.log('ready');
