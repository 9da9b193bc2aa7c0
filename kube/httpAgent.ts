/**
 * undici's pools of connections without the rest of the library: its index loads fetch, WebSocket, mocks and
 * a database, which a runner that is idle would keep in memory.
 */
import Agent from 'undici/lib/dispatcher/agent.js';
import methods from 'undici/lib/api/index.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';

// As the index does.
Object.assign(Dispatcher.prototype, methods);

export { Agent };
