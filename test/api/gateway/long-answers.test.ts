import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { sha256 } from '../../../src/adapters/system/system.js'
import { canonicalJson } from '../../../src/kernel/json/canonical.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { MESSAGES, startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { rambling } from '../../support/upstreams/rambling.js'
import { ADMINISTRATOR_KEY, type TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'

interface EndedCall {
  readonly id: string
  readonly output: JsonObject | null
  readonly exception: string | null
  readonly summary: { readonly tallytree: JsonObject; readonly usage?: Readonly<Record<string, JsonObject>> }
}

/** What each choice says. */
const contentsOf = (output: JsonObject | null): readonly string[] =>
  (output?.['choices'] as readonly { readonly message: { readonly content: string } }[]).map(
    ({ message }) => message.content,
  )

describe('long streamed answers', () => {
  let service: TestService
  let gateway: Gateway
  before(async () => {
    service = await sharedService()
    gateway = await startGateway(service)
  })
  after(async () => {
    await gateway.upstream.close()
  })

  const streamed = async (project: string, headers: Readonly<Record<string, string>> = {}) => {
    const { text } = await gateway.complete(
      { stream: true, n: 2 },
      { headers: { 'openai-project': project, ...headers } },
    )
    assert.ok(text.endsWith('data: [DONE]\n\n'))
    return text
  }

  /** Opens a stream, and leaves it once it has told so many bytes. */
  const leftAfter = async (project: string, bytes: number) => {
    const sent = request(`${service.address}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ADMINISTRATOR_KEY}`,
        'content-type': 'application/json',
        'openai-project': project,
      },
    })
    sent.on('error', () => undefined)
    sent.end(JSON.stringify({ model: gateway.model, messages: MESSAGES, stream: true, n: 2 }))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    let read = 0
    for await (const piece of response) {
      read += (piece as Buffer).length
      if (read >= bytes) break
    }
    sent.destroy()
  }

  /** The only call of a project, which both ways of reading it must give alike. */
  const callOf = async (project: string): Promise<EndedCall> => {
    await gateway.ended(project)
    const { calls } = service.in(project)
    const [call] = (await calls.query().json()).calls as readonly EndedCall[]
    assert.deepEqual(await calls.read(call!.id), call)
    return call!
  }

  const whole = (output: JsonObject): JsonObject => ({ ...output, model: gateway.model })

  it('are recorded whole, with all their choices and calls of tools', async () => {
    const { behaviour, output } = rambling(400_000)
    gateway.upstream.behave(behaviour)
    const project = someProject()
    const text = await streamed(project)
    assert.ok(text.length > 3_000_000)
    const { output: recorded, exception, summary } = await callOf(project)
    assert.deepEqual(recorded, whole(output))
    assert.equal(exception, null)
    assert.equal(summary.tallytree['metering'], 'reported')
    const [ended] = await gateway.ended(project)
    assert.equal(ended?.spilled['output']?.canonical, sha256(canonicalJson(recorded)))
  })

  it('are recorded as far as they came where the client leaves, and all that came is counted', async () => {
    const { behaviour, output, bytes } = rambling(100_000, 'silence')
    gateway.upstream.behave(behaviour)
    const project = someProject()
    await leftAfter(project, 1_200_000)
    const { output: recorded, exception, summary } = await callOf(project)
    assert.deepEqual([exception, summary.tallytree['cancelled']], [null, true])
    assert.equal(summary.tallytree['metering'], 'estimated')
    contentsOf(recorded).forEach((kept, index) => {
      assert.ok(kept.length > 50_000)
      assert.ok(contentsOf(output)[index]?.startsWith(kept.replace(/\uFFFD$/, '')))
    })
    const keptBytes = Buffer.byteLength(JSON.stringify(recorded))
    const counted = 4 * Number(summary.usage?.[gateway.model]?.['completion_tokens'])
    // A character cut between two events counts as two of three bytes instead of one of four.
    assert.ok(counted > bytes / 2 && counted < bytes * 1.001 && counted < keptBytes)
    assert.ok(!('tallytree_truncated' in recorded!))
  })

  it('are recorded at once where their record is short', async () => {
    const { behaviour, output } = rambling(5_000)
    gateway.upstream.behave(behaviour)
    const project = someProject()
    await streamed(project)
    assert.deepEqual((await callOf(project)).output, whole(output))
  })
})
