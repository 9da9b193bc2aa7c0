/** `hostileProcess.ts PORT KIND`: does what the kind says to the gateway at that port until it is ended. */
import { attack } from '../support/gateway/hostileClients.ts';
import { KINDS } from './hostileKinds.ts';

const [port, name = ''] = process.argv.slice(2);
const kind = KINDS[name];
if (kind === undefined) throw new Error(`There is no kind "${name}".`);
attack({ ...kind, port: Number(port) });
// Connections alone would let it end when all of them are refused.
setInterval(() => undefined, 1_000);
