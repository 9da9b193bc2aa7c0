import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { createAddresses } from './addresses.ts';
import { limitConnections } from './connections.ts';
import { createRefusals } from './refusals.ts';

/**
 * A listener with room for two connections of one client; what comes of connections from these addresses, in
 * that order.
 */
function connectFrom(...addresses: string[]): boolean[] {
  const server = new EventEmitter();
  const { isProxy, clientOf } = createAddresses(['fd00::/8']);
  limitConnections(server as Server, {
    connections: 100,
    connectionsPerAddress: 2,
    requestsPerConnection: 10,
    isProxy,
    clientOf: (address) => clientOf(address, undefined),
    refused: createRefusals(),
    refusal: () => '',
  });
  const sockets = addresses.map((remoteAddress) => {
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress,
      destroyed: false,
      destroy: () => void (socket.destroyed = true),
    });
    server.emit('connection', socket);
    return socket;
  });
  return sockets.map(({ destroyed }) => destroyed);
}

test('the first connection of an address is closed for the third', () => {
  expect(connectFrom('192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.1')).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('all addresses of an IPv6 network of 64 bits count as one client', () => {
  expect(connectFrom('2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:3::1', '2001:db8:1:2::3')).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('a trusted proxy may use all connections', () => {
  expect(connectFrom('fd00::1', 'fd00::1', 'fd00::1')).toEqual([false, false, false]);
});

test('requests pipelined after the last one of a connection are neither served nor kept', async () => {
  const server = createServer();
  const { beginRequest } = limitConnections(server, {
    connections: 100,
    connectionsPerAddress: 100,
    requestsPerConnection: 2,
    isProxy: () => false,
    clientOf: (address) => address,
    refused: createRefusals(),
    refusal: () => '',
  });
  const entered: boolean[] = [];
  server.on('request', (request, response) => entered.push(beginRequest(request, response)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1', () =>
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000)),
  );
  await once(server, 'request');
  // What came in the same packet was parsed with it.
  expect(entered).toEqual([true, true, false]);
  client.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
