import type { JsonObject } from '../../kernel/json/json.js'

/** The areas of the API, by the first word of their paths. */
const AREAS: readonly (readonly [name: string, says: string, words: readonly string[]])[] = [
  ['calls', 'Record, read, change and delete calls.', ['call', 'calls', 'threads']],
  ['usage', 'Usage of calls, including all their descendants.', ['trace', 'usage']],
  ['opentelemetry', 'Spans of OpenTelemetry, which are recorded as calls.', []],
  ['objects', 'Versions of objects, and references to them.', ['obj', 'objs', 'tags', 'aliases', 'refs']],
  ['tables', 'Tables of rows, addressed by content digest.', ['table']],
  ['files', 'Files, addressed by content digest or by links.', ['file', 'files', 'content']],
  ['feedback', 'Feedback from people and programs on calls and objects.', ['feedback']],
  ['annotation queues', 'Queues of calls that people review.', ['annotation_queues']],
  ['costs', 'Prices and the cost of calls.', ['cost', 'prices']],
  [
    'evaluations',
    'Evaluation runs, their predictions and scores, and what they are made of.',
    [
      'evaluations',
      'evaluation_runs',
      'predictions',
      'scores',
      'eval_results',
      'leaderboards',
      'ops',
      'datasets',
      'scorers',
      'evaluation-rules',
    ],
  ],
  ['graphql', 'The subset of GraphQL that the packages `wandb` and `weave` use.', ['graphql']],
  [
    'artifacts',
    "Versions of artifacts in a project's collections, their aliases and tags.",
    ['artifacts', 'artifactsV2'],
  ],
  ['registries', 'Registries of teams, which link versions of projects.', ['registries']],
  ['runs', 'Runs and their metrics.', ['runs']],
  ['projects', 'Settings of a project, and the bytes that it stores.', ['projects', 'project', 'service']],
  ['access', 'Teams, members, API keys and sessions.', ['teams', 'users', 'sessions']],
  [
    'secrets',
    'Secrets that webhooks, upstreams and scorers use. Their values are never returned.',
    ['secrets'],
  ],
  ['webhooks', 'URLs that receive messages.', ['webhooks']],
  ['automations', 'Triggers that send messages to webhooks.', ['automations', 'automation-events']],
  ['deliveries', 'Deliveries: past, pending and held, with resend and cancel.', ['deliveries']],
  [
    'inference',
    'Models in the APIs of their providers, the upstreams that serve them, and limits on their use.',
    [
      'chat',
      'responses',
      'messages',
      'completions',
      'embeddings',
      'moderations',
      'rerank',
      'models',
      'inference',
      'limits',
    ],
  ],
  [
    'training',
    'Models that are trained, their checkpoints and jobs, and workers that train them.',
    ['preview', 'fine_tuning'],
  ],
  ['admin', 'Operation of the whole service. Needs the administrator key.', ['admin']],
  ['audit', 'The event log, its signed tree, and digests of the read models.', ['events', 'blobs', 'log']],
  ['pages', 'What the web interface asks for. Changes with its pages.', ['pages']],
  [
    'service',
    'The service itself. No API key needed.',
    ['health', 'system-check', 'server_info', 'metrics', 'openapi.json'],
  ],
]

/** The words of a path that identify its area, without parameters and common prefixes. */
const wordsOf = (path: string): readonly string[] =>
  path.split('/').filter((part) => part !== '' && !part.startsWith(':') && !/^(api|v\d+)$/.test(part))

/**
 * The area of a path, `other` if its first word is unknown. Resources of a team have areas of their own, and usage of
 * given calls belongs to usage.
 */
export const areaOf = (path: string): string => {
  const words = wordsOf(path)
  // `/v1/models` is of the gateway.
  if (words[0] === 'models' && path.startsWith('/v2/')) return 'evaluations'
  if (words.at(-1) === 'usage') return 'usage'
  if (/\/v1\/(traces|metrics|logs)$/.test(path)) return 'opentelemetry'
  return (words[0] === 'teams' ? areaNamed(words[1]) : undefined) ?? areaNamed(words[0]) ?? 'other'
}

const areaNamed = (word = ''): string | undefined => AREAS.find(([, , known]) => known.includes(word))?.[0]

/** The descriptions of the used areas, in the order above. */
export const tagsOf = (paths: readonly string[]): readonly JsonObject[] => {
  const used = new Set(paths.map(areaOf))
  return AREAS.filter(([name]) => used.has(name)).map(([name, description]) => ({ name, description }))
}

/**
 * An operation id from method and path, such as `post_call_start` or `delete_users_me_api_keys_id`. Parameters that are not
 * the last part are left out, unless the id is taken.
 */
export const operationIdOf = (method: string, path: string, taken: ReadonlySet<string>): string => {
  const parts = path.split('/').filter((part) => part !== '' && part !== 'api')
  const named = parts.filter((part, place) => !part.startsWith(':') || place === parts.length - 1)
  const idOf = (all: readonly string[]) =>
    [method, ...all].join('_').replaceAll(/\W+/g, '_').replaceAll(/_+/g, '_')
  return taken.has(idOf(named)) ? idOf(parts) : idOf(named)
}
