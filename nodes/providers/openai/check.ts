import type { Check } from '../../contract/check.ts';
import { partOf } from '../../contract/node.ts';
import { checkModels } from '../../models/check.ts';
import { OPENAI_URL } from './model.ts';

export const checkOpenai: Check = (credential, context) => {
  const { baseURL = OPENAI_URL, apiKeyRef, organization } = partOf(credential, 'openai');
  const api = {
    baseURL,
    list: '/models',
    ask: '/chat/completions',
    title: 'chat completions',
    remedy: 'baseURL must be complete, up to and with /v1',
    apiKeyRef,
    headers: (key: string) => ({
      authorization: `Bearer ${key}`,
      ...(organization !== undefined && { 'openai-organization': organization }),
    }),
  };
  return checkModels(api, credential, context);
};
