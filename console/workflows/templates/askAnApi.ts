/** Queries an HTTP API, with CEL steps for the request and the response. */
import type { Template } from './template.ts';

export const askAnApi: Template = {
  id: 'ask-an-api',
  trigger: 'webhook',
  text: 'A webhook receives a customer name, an HTTP step queries an API, and two CEL steps prepare the request and the response.',
  needs: [],
  spec: {
    displayName: 'Query an API',
    active: false,
    nodes: [
      {
        id: 'trigger',
        webhook: {
          path: 'customer',
          testData: { text_content: '', data_content: { email: ' Ada@example.com' } },
        },
      },
      {
        id: 'customer',
        skill: {
          name: 'set',
          parameters: { values: { email: 'nodes.trigger.data_content.email.lowerAscii().trim()' } },
        },
      },
      {
        id: 'orders',
        skill: {
          name: 'http_request',
          parameters: {
            url: 'https://api.example.com/orders',
            headers: { Accept: 'application/json' },
            response: 'json',
          },
        },
        retry: { limit: 3 },
        timeout: '10s',
      },
      {
        id: 'result',
        skill: {
          name: 'set',
          parameters: {
            values: {
              count:
                'size(nodes.orders.data_content.body.filter(o, o.email == nodes.customer.data_content.email))',
            },
          },
        },
      },
      {
        id: 'reply',
        response: {
          body: {
            email: "{{ $('customer').data_content.email }}",
            count: "{{ $('result').data_content.count }}",
          },
        },
      },
    ],
  },
};
