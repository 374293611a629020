import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { COUNTS } from '../../../counts.js'
import type { Answered } from '../../../support/client.js'
import type { TestService } from '../../../support/service.js'
import {
  arbitraryTurn,
  completionOf,
  isBroken,
  isRefused,
  promptOf,
  promptText,
  startCountingUpstream,
  type CountingUpstream,
  type Turn,
  type UsedTokens,
} from '../../../support/upstreams/counting-upstream.js'
import { inDecimals } from '../../../support/upstreams/random-usages.js'
import { accepted } from '../../calls/given.js'
import { sharedService } from '../../shared-service.js'

const AT_ONCE = 8
const MOST_RETRIES = 3
const TEAM = `team-${randomUUID().slice(0, 8)}`
const PROJECT = `${TEAM}/inference`

const cost = fc.bigInt({ min: 1n, max: 10n ** 10n })
/** In units of 10^-12. */
const arbitraryCosts = fc.record({
  prompt: cost,
  completion: cost,
  read: cost,
  written: cost,
  writtenForHour: cost,
  request: cost,
})
type Costs = typeof arbitraryCosts extends fc.Arbitrary<infer A> ? A : never

const LARGE_PROMPT = 32_000
const [LARGE_FACTOR, PRIORITY_FACTOR] = [3n, 2n]

const priceOf = ({ prompt, completion, read, written, writtenForHour, request }: Costs) => ({
  prompt_token_cost: inDecimals(prompt),
  completion_token_cost: inDecimals(completion),
  cache_read_input_token_cost: inDecimals(read),
  cache_creation_input_token_cost: inDecimals(written),
  cache_creation_1h_input_token_cost: inDecimals(writtenForHour),
  request_cost: inDecimals(request),
  tiers: [
    { above_prompt_tokens: LARGE_PROMPT, factor: Number(LARGE_FACTOR) },
    { service_tier: 'priority', factor: Number(PRIORITY_FACTOR) },
  ],
})

const costOf = (used: UsedTokens, isPriority: boolean, costs: Costs): bigint => {
  const factor = (promptOf(used) > LARGE_PROMPT ? LARGE_FACTOR : 1n) * (isPriority ? PRIORITY_FACTOR : 1n)
  const kinds = ['read', 'written', 'writtenForHour'] as const
  const ofTokens =
    BigInt(used.fresh) * costs.prompt +
    BigInt(completionOf(used)) * costs.completion +
    kinds.reduce((sum, kind) => sum + BigInt(used[kind]) * costs[kind], 0n)
  return ofTokens * factor + costs.request
}

/** Models whose upstreams speak all APIs, and those whose upstreams speak chat only. */
const MODELS = ['native-a', 'native-b', 'translated-a', 'translated-b'] as const
type Model = (typeof MODELS)[number]

const TOOL = { type: 'object', properties: { city: { type: 'string' } } }

/** The turns of a conversation, the last by the user. */
const history = (texts: readonly string[], contentOf: (text: string) => unknown) =>
  texts.flatMap((text, at) => [
    ...(at === 0 ? [] : [{ role: 'assistant', content: 'Yes?' }]),
    { role: 'user', content: contentOf(text) },
  ])

/** Requests of a conversation in an API, with the texts of the user so far. */
const APIS = {
  'chat/completions': (texts: readonly string[]) => ({
    messages: history(texts, (text) => text),
    max_tokens: 20_000,
    tools: [{ type: 'function', function: { name: 'weather', parameters: TOOL } }],
  }),
  responses: (texts: readonly string[]) => ({
    input: history(texts, (text) => [{ type: 'input_text', text }]),
    max_output_tokens: 20_000,
    tools: [{ type: 'function', name: 'weather', parameters: TOOL }],
  }),
  messages: (texts: readonly string[]) => ({
    messages: history(texts, (text) => [{ type: 'text', text }]),
    max_tokens: 20_000,
    tools: [{ name: 'weather', input_schema: TOOL }],
  }),
}
type Path = keyof typeof APIS

const arbitraryConversation = fc.record({
  path: fc.constantFrom<Path>('chat/completions', 'responses', 'messages'),
  model: fc.constantFrom<Model>(...MODELS),
  turns: fc.array(arbitraryTurn, { minLength: 1, maxLength: 3 }),
  /** Whether the client sends each request again, and takes the answer of the cache. */
  isRepeated: fc.boolean(),
})

interface RecordedCall {
  readonly id: string
  readonly attributes: { readonly tallytree: { readonly model: string } }
  readonly summary: {
    readonly usage?: Readonly<Record<string, Readonly<Record<string, number>> & RecordedUsage>>
    readonly tallytree: { readonly metering: string; readonly cache?: JsonObject }
  }
}
interface RecordedUsage {
  readonly cache_creation?: { readonly ephemeral_1h_input_tokens: number }
  readonly service_tier?: string
}

/** The tokens of a recorded call; reasoning is not recorded apart. */
const tokensOf = (usage: Readonly<Record<string, number>> & RecordedUsage): UsedTokens => {
  const hour = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0
  const [read, creation] = [usage['cache_read_input_tokens']!, usage['cache_creation_input_tokens']!]
  return {
    fresh: usage['prompt_tokens']! - read - creation,
    read,
    written: creation - hour,
    writtenForHour: hour,
    text: usage['completion_tokens']!,
    reasoning: 0,
  }
}

const NO_TOKENS: UsedTokens = { fresh: 0, read: 0, written: 0, writtenForHour: 0, text: 0, reasoning: 0 }

const sumOf = (all: readonly UsedTokens[]): UsedTokens =>
  all.reduce(
    (sum, one) => ({
      fresh: sum.fresh + one.fresh,
      read: sum.read + one.read,
      written: sum.written + one.written,
      writtenForHour: sum.writtenForHour + one.writtenForHour,
      text: sum.text + completionOf(one),
      reasoning: 0,
    }),
    NO_TOKENS,
  )

const total = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, one) => sum + one, 0n)

describe('what conversations in all APIs are charged', () => {
  const conversations = fc.sample(arbitraryConversation, COUNTS.conversations)
  const turns = conversations.flatMap((conversation) => conversation.turns)
  const costs = Object.fromEntries(
    MODELS.map((model) => [model, fc.sample(arbitraryCosts, 1)[0]!]),
  ) as Record<Model, Costs>
  let service: TestService
  let upstream: CountingUpstream
  let key: string

  before(async () => {
    service = await sharedService()
    upstream = await startCountingUpstream(turns)
    await service.teams.create(TEAM).json()
    key = await service.teams.keyOf(TEAM, `user-of-${TEAM}`, 'team_administrator')
    for (const place of [0, 1])
      for (const kind of ['native', 'translated'])
        accepted(
          await service.post('/api/inference/upstreams', {
            name: `${TEAM}-${kind}-${place}`,
            base_url: upstream.baseUrl,
            apis: kind === 'native' ? ['chat', 'responses', 'messages'] : ['chat'],
            models: MODELS.filter((model) => model.startsWith(kind)).map((model) => ({
              ...{ id: `${TEAM}/${model}`, upstream_id: model, price: priceOf(costs[model]) },
            })),
          }),
        )
    const limit = { scope: { type: 'team' }, budget: { amount: 1e12, period: 'month' } }
    accepted(await service.send('PUT', `/api/teams/${TEAM}/limits`, limit, { key }))
  })
  after(() => upstream.close())

  const send = (path: Path, body: object, isCached: boolean): Promise<Answered> =>
    service.post(`/v1/${path}`, body, {
      key,
      headers: { 'openai-project': PROJECT, ...(isCached ? { 'tallytree-cache': '600' } : {}) },
    })

  let hits = 0
  const converse = async (
    { path, model, turns: own, isRepeated }: (typeof conversations)[number],
    first: number,
  ): Promise<void> => {
    const texts: string[] = []
    for (const [at, turn] of own.entries()) {
      texts.push(promptText(first + at))
      const body = { ...APIS[path](texts), model: `${TEAM}/${model}`, stream: turn.stream }
      await taken(path, body, turn, isRepeated)
    }
  }

  /** Sends a request until it is answered, and then once more. */
  const taken = async (path: Path, body: object, turn: Turn, isRepeated: boolean): Promise<void> => {
    for (let retries = 0; ; retries += 1) {
      const answer = await send(path, body, isRepeated)
      if (answer.status >= 500 && retries < MOST_RETRIES) continue
      assert.equal(answer.status, isRefused(turn) ? 400 : 200, answer.text)
      break
    }
    if (!isRepeated || isBroken(turn) || isRefused(turn)) return
    const again = await send(path, { ...body, stream: !turn.stream }, true)
    assert.equal(again.headers.get('tallytree-cache'), 'hit', again.text)
    hits += 1
  }

  it(`is what the upstream counted, to the last digit, in ${COUNTS.conversations} conversations`, async () => {
    const starts = conversations.map((_, place) =>
      conversations.slice(0, place).reduce((sum, { turns: own }) => sum + own.length, 0),
    )
    let next = 0
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (next < conversations.length) {
          const place = next
          next += 1
          await converse(conversations[place]!, starts[place]!)
        }
      }),
    )

    const calls = await allCalls()
    const ofKind = (kind: string) =>
      calls.filter(({ summary: { tallytree } }) => tallytree.metering === kind && !tallytree.cache)
    const cached = calls.filter(({ summary }) => summary.tallytree.cache)
    assert.equal(cached.length, hits)
    assert.ok(ofKind('unknown').every(({ summary }) => summary.usage === undefined))
    assert.equal(ofKind('reported').length, turns.filter((one) => !isBroken(one) && !isRefused(one)).length)
    assert.equal(ofKind('estimated').length, turns.filter(isBroken).length)

    const query = { project_id: PROJECT, include_costs: true, group_by: ['model'] }
    const { rows } = accepted(await service.post('/usage/query', query)) as unknown as {
      rows: readonly { group: { model: string }; usage: Readonly<Record<string, number>> }[]
    }
    let all = 0n
    for (const model of MODELS) {
      const id = `${TEAM}/${model}`
      const ofModel = (of: readonly RecordedCall[]) =>
        of.filter(({ attributes }) => attributes.tallytree.model === id)
      const ownCalls = ofModel(calls).filter(({ summary }) => !summary.tallytree.cache)
      const recorded = (of: readonly RecordedCall[]) =>
        of.flatMap(({ summary: { usage } }) => (usage?.[id] ? [usage[id]] : []))
      const amountOf = (of: readonly RecordedCall[]): bigint =>
        total(recorded(of).map((one) => costOf(tokensOf(one), one.service_tier === 'priority', costs[model])))
      const reported = ownCalls.filter(({ summary }) => summary.tallytree.metering === 'reported')
      const counted = upstream.delivered.filter((one) => one.model === model).map(({ turn }) => turn)
      assert.deepEqual(
        sumOf(recorded(reported).map(tokensOf)),
        sumOf(counted.map(({ tokens }) => tokens)),
        model,
      )
      const expected = total(
        counted.map(({ tokens, isPriority }) => costOf(tokens, isPriority, costs[model])),
      )
      assert.equal(amountOf(reported), expected, model)

      const amount = amountOf(ownCalls)
      all += amount
      const row = rows.find(({ group }) => group.model === id)?.usage
      const prompts = recorded(ownCalls).reduce((sum, one) => sum + one['prompt_tokens']!, 0)
      assert.deepEqual(
        [row?.['prompt_tokens'] ?? 0, row?.['total_cost'] ?? 0],
        [prompts, Number(inDecimals(amount))],
      )
      const repeated = ofModel(cached).flatMap(({ summary }) =>
        ownCalls.filter((call) => call.id === summary.tallytree.cache!['call_id']),
      )
      assert.deepEqual(
        [row?.['cache_hits'] ?? 0, row?.['saved_tokens'] ?? 0, row?.['saved_cost'] ?? 0],
        [
          ofModel(cached).length,
          recorded(repeated).reduce((sum, one) => sum + one['total_tokens']!, 0),
          Number(inDecimals(amountOf(repeated))),
        ],
      )
    }
    const { data } = accepted(
      await service.send('GET', `/api/teams/${TEAM}/limits`, undefined, { key }),
    ) as unknown as { data: readonly { used: { budget: { spent: number; reserved: number } } }[] }
    const { spent, reserved } = data[0]!.used.budget
    assert.deepEqual([spent, reserved], [Number(inDecimals(all)), 0])
  })

  const allCalls = async (): Promise<readonly RecordedCall[]> => {
    const { text } = await service.in(PROJECT).calls.stream()
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as RecordedCall)
  }
})
