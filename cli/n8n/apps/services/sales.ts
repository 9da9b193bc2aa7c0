/** HubSpot and Pipedrive. */
import { get, patch, post, remove, type Service } from './operation.ts';

const HUBSPOT = 'https://api.hubapi.com/crm/v3/objects';
const PIPEDRIVE = 'https://api.pipedrive.com/v1';

export const SALES: Record<string, Service> = {
  hubspot: {
    credentials: ['hubspotAppToken', 'hubspotOAuth2Api', 'hubspotApi'],
    usual: ['contact upsert', 'deal create', 'company create', 'ticket create', 'engagement create'],
    operations: {
      'contact get': get(`${HUBSPOT}/contacts/{contactId}`),
      'contact getAll': get(`${HUBSPOT}/contacts`, { query: { limit: 'limit' }, items: 'results' }),
      'contact delete': remove(`${HUBSPOT}/contacts/{contactId}`),
      'contact upsert': post(
        `${HUBSPOT}/contacts`,
        {
          'properties.email': 'email',
          'properties.firstname': 'additionalFields.firstName',
          'properties.lastname': 'additionalFields.lastName',
          'properties.company': 'additionalFields.companyName',
          'properties.jobtitle': 'additionalFields.jobTitle',
          'properties.phone': 'additionalFields.phoneNumber',
          'properties.city': 'additionalFields.city',
          'properties.country': 'additionalFields.country',
          'properties.website': 'additionalFields.websiteUrl',
        },
        { note: 'a contact is created, and one that exists fails the step with 409' },
      ),
      'deal create': post(
        `${HUBSPOT}/deals`,
        {
          'properties.dealname': 'additionalFields.dealName',
          'properties.amount': 'additionalFields.amount',
        },
        { note: 'set the property dealstage' },
      ),
      'deal update': patch(`${HUBSPOT}/deals/{dealId}`, {
        'properties.dealname': 'updateFields.dealName',
        'properties.amount': 'updateFields.amount',
        'properties.hubspot_owner_id': 'updateFields.dealOwner',
        'properties.closedate': 'updateFields.closeDate',
        'properties.pipeline': 'updateFields.pipeline',
        'properties.description': 'updateFields.description',
      }),
      'deal get': get(`${HUBSPOT}/deals/{dealId}`),
      'deal getAll': get(`${HUBSPOT}/deals`, { query: { limit: 'limit' }, items: 'results' }),
      'company get': get(`${HUBSPOT}/companies/{companyId}`),
      'company create': post(`${HUBSPOT}/companies`, {
        'properties.name': 'name',
        'properties.description': 'additionalFields.description',
        'properties.founded_year': 'additionalFields.yearFounded',
      }),
      'company update': patch(`${HUBSPOT}/companies/{companyId}`, {
        'properties.name': 'updateFields.name',
        'properties.description': 'updateFields.description',
        'properties.numberofemployees': 'updateFields.numberOfEmployees',
      }),
      'engagement create': post('https://api.hubapi.com/engagements/v1/engagements', {
        'engagement.type': 'type',
        metadata: 'metadata',
      }),
    },
  },
  pipedrive: {
    credentials: ['pipedriveApi'],
    usual: [
      'deal create',
      'person create',
      'organization create',
      'note create',
      'activity create',
      'lead create',
    ],
    operations: {
      'deal create': post(
        `${PIPEDRIVE}/deals`,
        { title: 'title', org_id: 'org_id', person_id: 'person_id', '*': 'additionalFields' },
        { items: 'data' },
      ),
      'deal get': get(`${PIPEDRIVE}/deals/{dealId}`, { items: 'data' }),
      'deal getAll': get(`${PIPEDRIVE}/deals`, { query: { limit: 'limit' }, items: 'data' }),
      'deal update': {
        method: 'PUT',
        url: `${PIPEDRIVE}/deals/{dealId}`,
        body: { '*': 'updateFields' },
        items: 'data',
      },
      'person create': post(
        `${PIPEDRIVE}/persons`,
        { name: 'name', '*': 'additionalFields' },
        { items: 'data' },
      ),
      'person get': get(`${PIPEDRIVE}/persons/{personId}`, { items: 'data' }),
      'person getAll': get(`${PIPEDRIVE}/persons`, { query: { limit: 'limit' }, items: 'data' }),
      'person search': get(`${PIPEDRIVE}/persons/search`, {
        query: { term: 'term', limit: 'limit|100', fields: 'additionalFields.fields' },
        items: 'data.items',
        output: '(R.body.data?.items ?? []).map(({ result_score, item }) => ({ ...item, result_score }))',
      }),
      'organization create': post(`${PIPEDRIVE}/organizations`, { name: 'name' }, { items: 'data' }),
      'organization get': get(`${PIPEDRIVE}/organizations/{organizationId}`, { items: 'data' }),
      'note create': post(
        `${PIPEDRIVE}/notes`,
        { content: 'content', '*': 'additionalFields' },
        { items: 'data' },
      ),
      'lead create': post(
        `${PIPEDRIVE}/leads`,
        {
          title: 'title',
          organization_id: 'organization_id',
          person_id: 'person_id',
          '*': 'additionalFields',
        },
        { items: 'data', ignored: ['associateWith'] },
      ),
      'lead getAll': get(`${PIPEDRIVE}/leads`, { query: { limit: 'limit|100' }, items: 'data' }),
      'person update': {
        method: 'PUT',
        url: `${PIPEDRIVE}/persons/{personId}`,
        body: { '*': 'updateFields' },
        items: 'data',
      },
      'organization update': {
        method: 'PUT',
        url: `${PIPEDRIVE}/organizations/{organizationId}`,
        body: { '*': 'updateFields' },
        items: 'data',
      },
      'activity create': post(
        `${PIPEDRIVE}/activities`,
        { subject: 'subject', type: 'type', '*': 'additionalFields' },
        { items: 'data' },
      ),
    },
  },
};
