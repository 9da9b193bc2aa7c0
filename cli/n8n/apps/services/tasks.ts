/** Todoist, GitHub, Jira and Linear. */
import { get, post, patch, remove, type Service } from './operation.ts';

const GITHUB = 'https://api.github.com/repos/{owner}/{repository}';
const TODOIST = 'https://api.todoist.com/api/v1/tasks';
const JIRA = '{@url}/rest/api/2';

export const TASKS: Record<string, Service> = {
  todoist: {
    credentials: ['todoistApi', 'todoistOAuth2Api'],
    usual: ['task create'],
    operations: {
      'task create': post(TODOIST, {
        content: 'content',
        project_id: 'project',
        description: 'options.description',
        due_string: 'options.dueString',
        priority: 'options.priority',
      }),
      'task getAll': get(TODOIST, {
        query: { project_id: 'filters.projectId', limit: 'limit' },
        items: 'results',
      }),
      'task get': get(`${TODOIST}/{taskId}`),
      'task close': post(`${TODOIST}/{taskId}/close`, {}),
      'task update': post(`${TODOIST}/{taskId}`, {
        content: 'updateFields.content',
        description: 'updateFields.description',
        due_string: 'updateFields.dueString',
      }),
      'task delete': remove(`${TODOIST}/{taskId}`),
    },
  },
  github: {
    credentials: ['githubApi', 'githubOAuth2Api'],
    usual: ['issue create', 'file create', 'repository getIssues', 'release create', 'review create'],
    operations: {
      'issue create': post(`${GITHUB}/issues`, {
        title: 'title',
        body: 'body',
        labels: 'list(labels)',
        assignees: 'list(assignees)',
      }),
      'issue createComment': post(`${GITHUB}/issues/{issueNumber}/comments`, { body: 'body' }),
      'issue get': get(`${GITHUB}/issues/{issueNumber}`),
      'issue edit': patch(`${GITHUB}/issues/{issueNumber}`, { '*': 'editFields' }),
      'repository get': get(GITHUB),
      'repository getIssues': get(`${GITHUB}/issues`, {
        query: { per_page: 'limit', state: 'getRepositoryIssuesFilters.state' },
      }),
      'file get': get(`${GITHUB}/contents/{filePath}`, {
        note: 'the content is base64 in the item, where n8n has binary data',
      }),
      'file create': {
        method: 'PUT',
        url: `${GITHUB}/contents/{filePath}`,
        body: {
          message: 'commitMessage',
          content: 'base64(fileContent)',
          branch: 'additionalParameters.branch.branch',
        },
      },
      'file list': get(`${GITHUB}/contents/{filePath}`),
      'release create': post(`${GITHUB}/releases`, {
        tag_name: 'releaseTag',
        name: 'additionalFields.name',
        body: 'additionalFields.body',
      }),
      'release getAll': get(`${GITHUB}/releases`),
      'review create': post(`${GITHUB}/pulls/{pullRequestNumber}/reviews`, { event: 'event', body: 'body' }),
    },
  },
  jira: {
    credentials: ['jiraSoftwareCloudApi'],
    usual: ['issue create', 'issueComment add', 'issueAttachment add'],
    operations: {
      'issue create': post(`${JIRA}/issue`, {
        'fields.project.id': 'project',
        'fields.issuetype.id': 'issueType',
        'fields.summary': 'summary',
        'fields.description': 'additionalFields.description',
        'fields.labels': 'additionalFields.labels',
        'fields.priority.id': 'additionalFields.priority',
        'fields.assignee.id': 'additionalFields.assignee',
      }),
      'issue get': get(`${JIRA}/issue/{issueKey}`),
      'issue getAll': get(`${JIRA}/search`, {
        query: { jql: 'options.jql', maxResults: 'limit' },
        items: 'issues',
      }),
      'issue update': {
        method: 'PUT',
        url: `${JIRA}/issue/{issueKey}`,
        body: { 'fields.summary': 'updateFields.summary', 'fields.description': 'updateFields.description' },
      },
      'issueComment add': post(`${JIRA}/issue/{issueKey}/comment`, { body: 'comment' }),
      'issueComment getAll': get(`${JIRA}/issue/{issueKey}/comment`, { items: 'comments' }),
    },
  },
  linear: {
    credentials: ['linearApi'],
    usual: ['issue create'],
    operations: {
      'issue create': post(
        'https://api.linear.app/graphql',
        {
          query:
            '=mutation($input: IssueCreateInput!) { issueCreate(input: $input) { issue { id identifier url title } } }',
          'variables.input.teamId': 'teamId',
          'variables.input.title': 'title',
          'variables.input.description': 'additionalFields.description',
        },
        { items: 'data.issueCreate.issue' },
      ),
    },
  },
};
