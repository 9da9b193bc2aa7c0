import { describe, expect, test } from 'vitest';
import { chatId } from '../../api/chat.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { validate } from '../workflow/validate.ts';
import { chatOf, declaredChat } from './route.ts';

const agent = { id: 'a', agent: { credential: 'llm', model: 'm', prompt: 'p' } };
const specOf = (chat: object, steps: object[] = [agent]): WorkflowSpec =>
  ({ active: true, nodes: [{ id: 'trigger', chat }, ...steps] }) as unknown as WorkflowSpec;
const tokenRefs = [{ name: 'chat', key: 'token' }];

describe('the chat of a route', () => {
  test('has defaults, and its callers are verified by the tokens', () =>
    expect(chatOf(specOf({ tokenRefs }), 'uid')).toEqual({
      chat: {
        id: chatId('uid'),
        title: 'Chat',
        answer: 'a',
        access: 'bearer',
        verify: { secretRefs: tokenRefs, toleranceSeconds: 300 },
      },
    }));

  test('of access Public verifies nobody', () => {
    const texts = { title: 'Help', welcome: 'Hi', suggestions: ['One'], embedIn: ['https://a.example'] };
    expect(chatOf(specOf({ access: 'Public', ...texts }), 'uid').chat).toEqual({
      id: chatId('uid'),
      ...texts,
      answer: 'a',
      access: 'Public',
    });
  });

  test('names no node where a response node answers', () =>
    expect(
      chatOf(specOf({ access: 'Public' }, [agent, { id: 'r', response: {} }]), 'uid').chat,
    ).not.toHaveProperty('answer'));

  test('is the declared one with other material', () => {
    const { chat } = chatOf(specOf({ tokenRefs }), 'uid');
    const withMaterial = chat?.verify && { ...chat, verify: { ...chat.verify, material: 'x' } };
    expect(declaredChat(withMaterial)).toEqual(chat);
  });

  test('does not exist without a chat trigger', () =>
    expect(chatOf({ nodes: [{ id: 't', manual: {} }] } as unknown as WorkflowSpec, 'uid')).toEqual({}));
});

describe('a workflow with a chat is invalid', () => {
  test('where nothing answers', () =>
    expect(validate(specOf({ access: 'Public' }, [{ id: 's', skill: { name: 'set' } }]))).toContainEqual({
      reason: 'InvalidParameters',
      message: expect.stringMatching(/^node trigger: chat: nothing answers the messages/),
      trigger: true,
    }));

  test('but not the part of it that a test run executes up to a node', () => {
    expect(validate(specOf({ access: 'Public' }, []), { isPart: true })).toEqual([]);
  });

  test('where it is public and public webhooks are refused', () => {
    expect(validate(specOf({ access: 'Public' }), { auth: 'Namespace' })).toMatchObject([
      { reason: 'AuthRequired', message: expect.stringContaining('set access to Token'), trigger: true },
    ]);
    expect(validate(specOf({ tokenRefs }), { auth: 'Namespace' })).toEqual([]);
  });
});
