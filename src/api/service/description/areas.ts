import type { JsonObject } from '../../../domain/json/json.js'

/** What the paths that begin with a word are about. */
const AREAS: readonly (readonly [name: string, says: string, words: readonly string[]])[] = [
  ['calls', 'Record, read, change and delete calls.', ['call', 'calls']],
  ['usage', 'What calls used, with all their descendants.', ['trace']],
  ['objects', 'Versions of objects, and references to them.', ['obj', 'objs', 'tags', 'aliases', 'refs']],
  ['tables', 'Tables of rows, known by their content.', ['table']],
  ['files', 'Files, known by their content.', ['file', 'files']],
  ['feedback', 'What people and programs think of a call or an object.', ['feedback']],
  ['costs', 'Prices, and what calls cost.', ['cost']],
  ['evaluations', 'Runs of evaluations, and their scores.', ['evaluations']],
  ['graphql', 'What SDKs ask in GraphQL before they begin.', ['graphql']],
  ['artifacts', "Versions of artifacts in a project's collections, their aliases and tags.", ['artifacts']],
  ['registries', 'Registries of teams, which show versions of their projects.', ['registries']],
  ['runs', 'Runs, and the metrics that they log.', ['runs']],
  ['projects', 'How a project behaves.', ['projects']],
  ['access', 'Teams, members and API keys.', ['teams', 'users']],
  ['secrets', 'Values that webhooks send and sign with; nobody reads them back.', ['secrets']],
  ['webhooks', 'Addresses that receive messages.', ['webhooks']],
  ['automations', 'What sends which message to which webhook.', ['automations']],
  ['deliveries', 'What was sent, what waits, and what can be done about it.', ['deliveries']],
  [
    'inference',
    'Completions of chats by models, the upstreams that serve them, and limits of their use.',
    ['chat', 'models', 'inference', 'limits'],
  ],
  ['admin', 'What an operator does with the whole service; needs the administrator key.', ['admin']],
  ['audit', 'The log itself, and digests of what is read from it.', ['events', 'blobs']],
  ['service', 'The service itself; needs no key.', ['health', 'server_info', 'metrics', 'openapi.json']],
]

/** The words of a path that say what it is about: not its parameters, and not what all of a kind begin with. */
const wordsOf = (path: string): readonly string[] =>
  path.split('/').filter((part) => part !== '' && !part.startsWith(':') && !/^(api|v\d+)$/.test(part))

/**
 * The area that a path belongs to, `other` where its first word is unknown: a team's things have areas of their own.
 * Usage of given calls is usage too.
 */
export const areaOf = (path: string): string => {
  const words = wordsOf(path)
  if (words.at(-1) === 'usage') return 'usage'
  return (words[0] === 'teams' ? areaNamed(words[1]) : undefined) ?? areaNamed(words[0]) ?? 'other'
}

const areaNamed = (word = ''): string | undefined => AREAS.find(([, , known]) => known.includes(word))?.[0]

/** The areas that are in use, described, in the order above. */
export const tagsOf = (paths: readonly string[]): readonly JsonObject[] => {
  const used = new Set(paths.map(areaOf))
  return AREAS.filter(([name]) => used.has(name)).map(([name, description]) => ({ name, description }))
}

/** A name for an operation, from its method and path: `post_call_start`, `delete_users_me_api_keys_id`. */
export const operationIdOf = (method: string, path: string): string => {
  const parts = path.split('/').filter((part) => part !== '' && part !== 'api')
  const named = parts.filter((part, place) => !part.startsWith(':') || place === parts.length - 1)
  return [method, ...named].join('_').replaceAll(/\W+/g, '_').replaceAll(/_+/g, '_')
}
