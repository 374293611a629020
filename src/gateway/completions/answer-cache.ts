import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Api } from '../../domain/gateway/upstreams/apis.js'
import { canonicalJson } from '../../kernel/json/canonical.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonBytesAtMost } from '../../kernel/json/measure.js'
import type { Metered } from '../answer/usage.js'
import type { EndpointRequest } from '../endpoints/endpoint.js'

/** A complete answer. */
export interface CachedAnswer {
  readonly project: string
  /** As recorded. */
  readonly body: JsonObject
  /** Undefined where it is the JSON of the body. */
  readonly text: string | undefined
  readonly metered: Metered
  /** In digits; undefined if it is unknown. */
  readonly cost: string | undefined
  readonly callId: string
  /** By the clock of `performance`, in milliseconds. */
  readonly at: number
}

/** Of all answers in this process. */
const MAX_BYTES = 64 * 1024 * 1024
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** Longer requests are sessions of agents, which are never equal. */
const MAX_REQUEST_BYTES = 1024 * 1024

/** What says nothing about the answer. */
const NOT_IN_KEY = new Set(['model', 'stream', 'stream_options', 'user', 'metadata'])

/** Headers that change an answer. */
const VARIANTS = ['anthropic-version', 'anthropic-beta']

const CACHED: ReadonlySet<Api> = new Set(['chat', 'responses', 'messages', 'completions', 'embeddings'])

/** Answers for equal requests of a project, in the memory of this process. The least recently used ones are dropped. */
export class AnswerCache {
  /** When content of each project was last erased. */
  private readonly erased = new Map<string, number>()
  private readonly answers = new LRUCache<string, CachedAnswer>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body, text }) => jsonBytesAtMost(body) + (text?.length ?? 0) + 1,
  })

  /** An answer that is at most so old. */
  find(key: string, maxSeconds: number): CachedAnswer | undefined {
    const answer = this.answers.get(key)
    return answer !== undefined && performance.now() - answer.at <= maxSeconds * 1000 ? answer : undefined
  }

  /** Ignores an answer whose call started before content of the project was last erased, since that may have included it. */
  add(key: string, answer: CachedAnswer, startedAt: number): void {
    if (startedAt <= (this.erased.get(answer.project) ?? -1)) return
    const isLarge = jsonBytesAtMost(answer.body, MAX_ANSWER_BYTES) > MAX_ANSWER_BYTES
    if (!isLarge && (answer.text?.length ?? 0) <= MAX_ANSWER_BYTES) this.answers.set(key, answer)
  }

  /** Drops all answers of a project, because content of some of its calls was erased. */
  drop(project: string): void {
    this.erased.set(project, performance.now())
    for (const [key, answer] of [...this.answers.entries()])
      if (answer.project === project) this.answers.delete(key)
  }
}

/** The key of a request; undefined if its answers may differ or depend on more than the request. */
export const cacheKeyOf = (
  { endpoint, given }: Pick<EndpointRequest, 'endpoint' | 'given'>,
  project: string,
  model: string,
  bytes: number,
  headers: IncomingHttpHeaders,
): string | undefined => {
  if (!CACHED.has(endpoint.api) || bytes > MAX_REQUEST_BYTES || usesHostedTools(given)) return undefined
  const members = Object.entries(given).filter(([name]) => !NOT_IN_KEY.has(name))
  return createHash('sha256')
    .update(JSON.stringify([project, endpoint.api, model, ...VARIANTS.map((name) => headers[name])]))
    .update(canonicalJson(Object.fromEntries(members)))
    .digest('base64url')
}

const OWN_TOOLS = new Set(['function', 'custom'])

/** A search of the provider finds something else tomorrow. */
const usesHostedTools = ({ tools, web_search_options, mcp_servers }: JsonObject): boolean =>
  [web_search_options, mcp_servers].some((given) => given !== undefined && given !== null) ||
  (Array.isArray(tools) &&
    tools.some(
      (tool: Json) => isJsonObject(tool) && typeof tool['type'] === 'string' && !OWN_TOOLS.has(tool['type']),
    ))
