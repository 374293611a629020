import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/kernel/json/json.js'
import { startTestService, type TestService } from '../support/service.js'
import type { CompletionClient } from '../support/upstreams/completion-client.js'
import { startGateway, type Completion, type Gateway } from '../support/upstreams/gateway.js'
import { NPM_CLIENTS, PROJECT } from '../support/upstreams/npm-clients.js'
import { answeringAs, breakingAs, refusingAs, TEXT } from '../support/upstreams/provider.js'
import { CITY, PROVIDER_KEY, PROVIDERS } from '../support/upstreams/providers.js'

/** In units of 10^-6. */
const PRICE = { prompt: 3, completion: 15, cached: 1 }
const perToken = (cost: number): string => `0.${String(cost).padStart(6, '0')}`

/** A stream leaves out what is null or empty, and only a stream has the offsets of a filter. */
const comparable = (message: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(message).filter(
      ([key, value]) =>
        key !== 'content_filter_offsets' && value !== null && (value as readonly Json[]).length !== 0,
    ),
  )

describe('clients of completions', () => {
  let service: TestService
  const team = PROJECT.split('/')[0]!
  before(async () => {
    service = await startTestService()
    await service.post('/api/teams', { name: team })
    const stored = await service.send('PUT', `/api/teams/${team}/secrets/PROVIDER_KEY`, {
      value: PROVIDER_KEY,
    })
    assert.equal(stored.status, 200, stored.text)
  })
  after(() => service.stop())

  for (const [name, provider] of Object.entries(PROVIDERS))
    describe(`of an upstream that is ${name}`, () => {
      let gateway: Gateway
      let recorded = 0
      before(async () => {
        const id = `acme/${name.toLowerCase().replaceAll(' ', '-')}`
        const price = {
          prompt_token_cost: perToken(PRICE.prompt),
          completion_token_cost: perToken(PRICE.completion),
          cache_read_input_token_cost: perToken(PRICE.cached),
        }
        const models = [{ id, upstream_id: 'chat-1', price }]
        gateway = await startGateway(service, { id, upstream: { ...provider.upstream, team, models } })
      })
      after(() => gateway.upstream.close())

      const newRecords = async (count: number): Promise<readonly Completion[]> => {
        const all = await gateway.ended(PROJECT, recorded + count)
        const fresh = all.slice(recorded)
        recorded = all.length
        assert.equal(fresh.length, count)
        return fresh
      }

      const { prompt, completion, cached = 0 } = provider.used
      const requireUsed = async ({ id, summary }: Completion) => {
        assert.equal(summary.tallytree?.metering, 'reported')
        const { requests, prompt_tokens, completion_tokens, cache_read_input_tokens } =
          summary.usage![gateway.model]!
        assert.deepEqual(
          { requests, prompt_tokens, completion_tokens, cache_read_input_tokens },
          {
            requests: 1,
            prompt_tokens: prompt,
            completion_tokens: completion,
            cache_read_input_tokens: cached,
          },
        )
        const answer = await service.post('/calls/usage', {
          project_id: PROJECT,
          call_ids: [id],
          include_costs: true,
        })
        assert.equal(answer.status, 200, answer.text)
        const used = answer.json<{ call_usage: Record<string, Record<string, JsonObject>> }>().call_usage
        const costs = used[id]![gateway.model]!
        const micro = (cost: unknown) => Math.round(Number(cost) * 1_000_000)
        assert.equal(
          micro(costs['prompt_tokens_total_cost']) +
            micro(costs['completion_tokens_total_cost']) +
            micro(costs['cache_read_input_tokens_total_cost'] ?? 0),
          (prompt - cached) * PRICE.prompt + cached * PRICE.cached + completion * PRICE.completion,
        )
      }
      /** Some clients show the reported total, others add up prompt and completion. */
      const assertTotal = (tokens: number) => {
        const { prompt_tokens, completion_tokens, total_tokens } = provider.usage as Record<string, number>
        assert.ok([total_tokens, prompt_tokens! + completion_tokens!].includes(tokens), String(tokens))
      }
      const messageOf = ({ output }: Completion) => {
        const [choice] = output!['choices'] as readonly (JsonObject & { message: JsonObject })[]
        const { message, ...rest } = choice!
        return { ...rest, ...message }
      }

      for (const [clientName, open] of Object.entries(NPM_CLIENTS))
        describe(`with ${clientName}`, () => {
          let client: CompletionClient
          beforeEach(async () => (recorded = (await gateway.ended(PROJECT, 0)).length))
          before(() => (client = open(`${service.address}/v1`, gateway.model)))

          it('get a text, whole and streamed, and the records are equal', async () => {
            gateway.upstream.behave(answeringAs(provider))
            const { text, tokens } = await client.ask()
            assert.equal(text, TEXT)
            assertTotal(tokens)
            let streamed = ''
            const streamedTokens = await client.stream((piece) => (streamed += piece))
            assert.equal(streamed, TEXT)
            if (provider.hidesUsage !== true) assertTotal(streamedTokens)
            const [whole, ofStream] = await newRecords(2)
            for (const record of [whole!, ofStream!]) await requireUsed(record)
            assert.equal(messageOf(whole!)['content'], TEXT)
            assert.deepEqual(comparable(messageOf(ofStream!)), comparable(messageOf(whole!)))
          })

          it('get a call of a tool, whole and streamed', async () => {
            gateway.upstream.behave(answeringAs(provider))
            assert.deepEqual(await client.callTool(), [CITY, CITY])
            const [whole, ofStream] = await newRecords(2)
            const callOf = (record: Completion) =>
              (messageOf(record)['tool_calls'] as readonly JsonObject[])[0]!['function'] as JsonObject
            assert.deepEqual(callOf(ofStream!), callOf(whole!))
          })

          it('get its error', async () => {
            gateway.upstream.behave(refusingAs(provider))
            const { says, seen } = provider.error
            const isTold = (error: Error) => {
              assert.equal(client.statusOf(error), seen)
              assert.match(error.message, says)
              return true
            }
            await assert.rejects(client.ask(), isTold)
            let streamed = ''
            await assert.rejects(
              client.stream((piece) => (streamed += piece)),
              isTold,
            )
            assert.equal(streamed, '')
            for (const { exception } of await newRecords(2)) assert.match(exception!, says)
          })

          const { streamError } = provider
          if (streamError !== undefined)
            it('get its error within a stream, after the text', async () => {
              gateway.upstream.behave(breakingAs(provider))
              let streamed = ''
              await assert.rejects(
                client.stream((text) => (streamed += text)),
                streamError.says,
              )
              assert.equal(streamed, TEXT)
              const [record] = await newRecords(1)
              assert.match(record!.exception!, streamError.says)
              assert.equal(messageOf(record!)['content'], TEXT)
            })
        })
    })
})
