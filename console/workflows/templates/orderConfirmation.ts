/** Confirms orders from a webhook by mail. */
import { mail, model, type Template } from './template.ts';

export const orderConfirmation: Template = {
  id: 'order-confirmation',
  trigger: 'webhook',
  text: 'A webhook receives an order, a model writes the confirmation, the customer gets it by mail, and the caller gets a response.',
  needs: [model, mail],
  spec: {
    displayName: 'Order confirmation',
    active: false,
    nodes: [
      {
        id: 'trigger',
        webhook: {
          path: 'orders',
          testData: {
            text_content: '',
            data_content: {
              number: 'A-1001',
              customer: { name: 'Ada', email: 'ada@example.com' },
              items: [{ name: 'lamp', quantity: 2 }],
            },
          },
        },
      },
      {
        id: 'agent_1',
        agent: {
          credential: 'model',
          model: 'gpt-4o-mini',
          systemPrompt:
            'You confirm orders of a small shop. Two or three friendly sentences, no subject line.',
          prompt: "Confirm this order: {{ $('trigger').data_content }}",
        },
      },
      {
        id: 'mail',
        skill: {
          name: 'send_email',
          credential: 'mail',
          parameters: {
            to: "{{ $('trigger').data_content.customer.email }}",
            subject: "Your order {{ $('trigger').data_content.number }}",
            body: "{{ $('agent_1').text_content }}",
          },
        },
      },
      {
        id: 'reply',
        response: {
          status: 201,
          body: {
            number: "{{ $('trigger').data_content.number }}",
            confirmation: "{{ $('agent_1').text_content }}",
          },
        },
      },
    ],
  },
};
