import { OF_AUTOMATIONS } from './webhooks/given.js'
import { OF_DELIVERIES } from './webhooks/deliveries/given.js'
import { OF_FINE_TUNING, OF_TRAINING } from './training/given.js'
import { OF_UPSTREAMS } from './gateway/given.js'

/** Endpoints that are about no project, and no team in their path; each is held against other tenants in a test of its own. */
export const OF_NEITHER = new Set([
  'GET /api/automation-events',
  // What it says of projects is held against their tenants in graphql/projects.test.ts.
  'POST /graphql',
  // They name an artifact by its id, which names its project: wandb/artifact-content.test.ts.
  'GET /artifactsV2/{region}/{entity}/{project}/{collection}/{artifact}/{md5}/{name}',
  'GET /artifactsV2/{region}/{entity}/{artifact}/{md5}',
  // It names projects in its body, and omits those of others: projects/info.test.ts.
  'POST /service/projects_info',
  // It names projects in each reference, and answers null for those of others: refs/read-batch.test.ts.
  'POST /refs/read_batch',
  // They begin or end work that goes on after the response: evaluations/tenants.test.ts.
  'POST /evaluations/rescore',
  'POST /evaluations/evaluate_model',
  'POST /evaluations/cancel',
  // For administrators alone: admin/rebuilds.test.ts.
  'POST /api/admin/rebuilds',
  'GET /api/admin/rebuilds',
  'GET /api/admin/rebuilds/{id}',
  // For the administrator alone: admin/prices.test.ts.
  'POST /api/admin/prices',
  // The log, of which each key sees its teams' projects, and what is the administrator's alone: audit/audit.test.ts.
  'GET /api/events',
  'GET /api/admin/digests',
  'GET /api/blobs/{digest}',
  // Hashes, of all events, and the proof of an event that the key may read: audit/log.test.ts.
  'GET /api/log/checkpoint',
  'GET /api/log/checkpoints',
  'GET /api/log/tile/entries/{path}',
  'GET /api/log/tile/{level}/{path}',
  'GET /api/log/proof',
  // They name their team in the body or the query, or are named by id: automations/tenants.test.ts.
  ...OF_AUTOMATIONS,
  // They are named by id, or by team in the query: deliveries/deliveries.test.ts.
  ...OF_DELIVERIES,
  // They name their team in the body or the query, or are named by id: inference/upstreams.test.ts.
  ...OF_UPSTREAMS,
  // They name projects in headers and in resources: otel/transport.test.ts.
  ...['', '/otel', '/agents/otel', '/api/public/otel'].map((base) => `POST ${base}/v1/traces`),
  // They keep nothing.
  ...['', '/otel', '/agents/otel', '/api/public/otel', '/v2/{entity}/{project}/otel'].flatMap((base) => [
    `POST ${base}/v1/metrics`,
    `POST ${base}/v1/logs`,
  ]),
  // They name their project in a header, and models by their public ids: inference/tenants.test.ts.
  ...[
    'chat/completions',
    'responses',
    'messages',
    'messages/count_tokens',
    'completions',
    'embeddings',
    'moderations',
    'rerank',
  ].map((path) => `POST /v1/${path}`),
  'GET /v1/models',
  'GET /v1/models/{id}',
  // They are named by id, or name their project in the body: training/tenants.test.ts.
  ...OF_TRAINING,
  ...OF_FINE_TUNING,
  // A job is named by its id, in a project: pages/training.test.ts.
  'GET /api/pages/training/job',
  // A link holds its project: pages/export.test.ts.
  'GET /api/pages/export/{link}',
  // A rule is named by its id, in a project: evaluation-rules/rules.test.ts.
  'POST /api/evaluation-rules/{entity}/{project}',
  'GET /api/evaluation-rules/{entity}/{project}/{id}',
  'PATCH /api/evaluation-rules/{entity}/{project}/{id}',
  'DELETE /api/evaluation-rules/{entity}/{project}/{id}',
  // A user's own: access/sessions.test.ts.
  'GET /api/sessions',
  'DELETE /api/sessions',
  'DELETE /api/sessions/{id}',
  'POST /api/teams',
  'GET /api/teams',
  'GET /api/users/me',
  'GET /api/users/me/api-keys',
  'POST /api/users/me/api-keys',
  'DELETE /api/users/me/api-keys/{id}',
  'GET /api/users/{user}/api-keys',
  'DELETE /api/users/{user}/api-keys/{id}',
])
