/** A workflow that greets, for tests of the console: what its nodes are, and what starts it. */

/** A node that requests this URL. */
export const http = (id: string, url: string) => ({
  id,
  skill: { name: 'http_request', parameters: { url } },
});

/** A node that makes a text and a list of what the trigger gave. */
export const greet = {
  id: 'greet',
  skill: {
    name: 'set',
    parameters: {
      values: {
        greeting: '"Hello " + nodes.trigger.data_content.name',
        lamps: 'nodes.trigger.data_content.lamps',
      },
    },
  },
};

/** How other nodes refer to the text. */
export const GREETING = "{{ $('greet').data_content.greeting }}";

/** What the trigger gives. */
export const event = (name: string) => ({ name, lamps: [{ colour: 'red' }, { colour: 'green' }] });
