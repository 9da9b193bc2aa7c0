/** The program of a balancer that has a thread of its own: see `startBalancerThread`. */
import { parentPort } from 'node:worker_threads';
import { startBalancer, type Replica } from './balancer.ts';

const balancer = await startBalancer();
parentPort?.on('message', (replica: Replica) => balancer.add(replica));
parentPort?.postMessage(balancer.port, []);
