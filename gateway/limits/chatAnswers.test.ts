import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createChatAnswers } from './chatAnswers.ts';

const response = () => new ServerResponse(new IncomingMessage(new Socket()));
const close = (closed: ServerResponse) => closed.emit('close');
const isInterrupted = ({ req }: ServerResponse) => req.socket.destroyed;

test('a further caller of a session interrupts the oldest of four', () => {
  const answers = createChatAnswers(1_600);
  const open = Array.from({ length: 5 }, response);
  for (const each of open) expect(answers.enter('session', '192.0.2.1', each)).toBe(true);
  expect(open.map(isInterrupted)).toEqual([true, false, false, false, false]);
});

test('a client gets a sixteenth of the places, whatever its sessions, and others get theirs', () => {
  const answers = createChatAnswers(32);
  const [first, second] = [response(), response()];
  expect(answers.enter('a', '192.0.2.1', first)).toBe(true);
  expect(answers.enter('b', '192.0.2.1', second)).toBe(true);
  expect(answers.enter('c', '192.0.2.1', response())).toBe(false);
  expect(answers.enter('d', '192.0.2.2', response())).toBe(true);
  close(first);
  expect(answers.enter('c', '192.0.2.1', response())).toBe(true);
  expect(isInterrupted(second)).toBe(false);
});
