/** The quickest first run: started manually, says hello. */
import type { Template } from './template.ts';

export const hello: Template = {
  id: 'hello',
  trigger: 'manual',
  text: 'Started manually, says hello. Needs no credentials: the quickest first run.',
  needs: [],
  spec: {
    displayName: 'Hello',
    active: false,
    nodes: [
      { id: 'trigger', manual: { testData: { name: 'World' } } },
      { id: 'greeting', response: { body: "Hello, {{ $('trigger').data_content.name }}!" } },
    ],
  },
};
