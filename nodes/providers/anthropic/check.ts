import type { Check } from '../../contract/check.ts';
import { partOf } from '../../contract/node.ts';
import { checkModels } from '../../models/check.ts';
import { ANTHROPIC_URL, ANTHROPIC_VERSION } from './model.ts';

export const checkAnthropic: Check = (credential, context) => {
  const { baseURL = ANTHROPIC_URL, apiKeyRef } = partOf(credential, 'anthropic');
  const api = {
    baseURL,
    list: '/v1/models?limit=1000',
    ask: '/v1/messages',
    title: 'messages',
    remedy: 'baseURL must be complete, without /v1',
    apiKeyRef,
    headers: (key: string) => ({ authorization: `Bearer ${key}`, 'anthropic-version': ANTHROPIC_VERSION }),
  };
  return checkModels(api, credential, context);
};
