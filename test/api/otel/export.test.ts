import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { exportOtlp } from '../../../src/cli/export-otlp.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { startAnsweringServer, type AnsweringServer } from '../../support/answering-server.js'
import { scratchDirectory } from '../../support/scratch.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'

const FOLDER = join(import.meta.dirname, '../../samples/otlp')
const SAMPLES = readdirSync(FOLDER).filter((file) => !/^(expected|meanings)\.json$/.test(file))

type Outcome = { readonly code: number; readonly out: string }

const exporting = async (
  service: TestService,
  to: string,
  project: string,
  more: { readonly resume?: string; readonly headers?: readonly string[] } = {},
): Promise<Outcome> => {
  let out = ''
  const config = { apiKey: ADMINISTRATOR_KEY, dataDirectory: '', eventStoreUrl: null, objects: null }
  const { resume, headers = [] } = more
  const asked = { to, from: service.address, project, after: undefined, resume, headers }
  const code = await exportOtlp(asked, config, { write: (text) => ((out += String(text)), true) })
  return { code, out }
}

const KEY = `Authorization=Bearer ${ADMINISTRATOR_KEY}`

type Usage = Readonly<Record<string, Readonly<Record<string, number>>>>

/** The inclusive usage of the topmost calls, by model. */
const usageIn = async (service: TestService, project: string): Promise<Usage> => {
  const client = service.in(project)
  const { calls } = await client.calls.query({ limit: 1000 }).json()
  const { call_usage: usage } = (await client.usage.ofTraces({ limit: 1000 }).json()) as {
    readonly call_usage: Readonly<Record<string, Usage>>
  }
  const ids = new Set(calls.map(({ id }) => id as string))
  const sums: Record<string, Record<string, number>> = {}
  for (const { id, parent_id: parent } of calls) {
    if (parent != null && ids.has(parent as string)) continue
    for (const [model, used] of Object.entries(usage[id as string] ?? {}))
      for (const [figure, value] of Object.entries(used))
        if (typeof value === 'number' && figure !== 'requests')
          (sums[model] ??= {})[figure] = (sums[model][figure] ?? 0) + value
  }
  return sums
}

const dumpsIn = async (service: TestService, project: string): Promise<readonly unknown[]> => {
  const { calls } = await service.in(project).calls.query({ limit: 1000 }).json()
  return calls
    .map(({ id, otel_dump }) => [id as string, otel_dump as unknown] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

describe('tallytree export otlp', () => {
  let service: TestService
  let other: TestService
  before(async () => {
    service = await sharedService()
    other = await startTestService()
  })
  after(() => other.stop())

  const otherAt = (project: string) => `${other.address}/v2/${project}/otel/v1/traces`

  it('sends spans to another service as they came', async () => {
    const project = someProject()
    for (const [n, name] of SAMPLES.entries()) {
      // The samples have the same trace ids.
      const text = readFileSync(join(FOLDER, name), 'utf8').replace(/("traceId": ")../g, `$1${n + 10}`)
      const request = JSON.parse(text) as JsonObject
      const answered = await service.post(`/v2/${project}/otel/v1/traces`, request)
      assert.equal(answered.status, 200)
    }

    const { code, out } = await exporting(service, otherAt(project), project, { headers: [KEY] })

    assert.equal(code, 0, out)
    const [sent, received] = [await dumpsIn(service, project), await dumpsIn(other, project)]
    assert.ok(sent.length > 80)
    assert.deepEqual(received, sent)
    assert.deepEqual(await usageIn(other, project), await usageIn(service, project))
  })

  it('sends the usage of other calls once', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    const usage = (prompt: number, completion: number, more = {}) => ({
      requests: 1,
      ...{ prompt_tokens: prompt, completion_tokens: completion, ...more },
    })
    const sdk = { weave: { source: 'python-sdk' } }
    const trace_id = randomUUID()
    const ids = { root: randomUUID(), agent: randomUUID(), model: 'a call', other: 'another call' }
    const write = async (id: string, parent_id: string | null, used: object, attributes: object) => {
      await calls.start({
        id,
        parent_id,
        trace_id,
        attributes,
        inputs: { messages: [{ role: 'user', content: 'hi' }] },
      })
      await calls.end(id, { summary: { usage: used }, output: { role: 'assistant', content: 'there' } })
    }
    const cached = { cache_read_input_tokens: 40, cache_creation_input_tokens: 10 }
    await write(ids.model, ids.agent, { large: usage(100, 20, cached) }, sdk)
    await write(ids.other, ids.agent, { small: usage(7, 3, { total_tokens: 15 }) }, sdk)
    // 5 and 1 are its own.
    const sum = { large: usage(105, 21, cached), small: usage(7, 3, { total_tokens: 15 }) }
    await write(ids.agent, ids.root, sum, sdk)
    await write(ids.root, null, sum, sdk)
    await write('plain', null, { large: usage(11, 2), small: usage(1, 1) }, {})
    await calls.start({ id: 'running', trace_id, parent_id: ids.root })
    await calls.start({ id: 'deleted', trace_id })
    await calls.end('deleted', { summary: { usage: { large: usage(1000, 1) } } })
    await calls.delete('deleted')

    const { code, out } = await exporting(service, otherAt(project), project, { headers: [KEY] })

    assert.equal(code, 0, out)
    assert.deepEqual(await usageIn(other, project), await usageIn(service, project))
    const { calls: received } = await other.in(project).calls.query({ limit: 100 }).json()
    const traceIds = new Set(received.map(({ otel_dump }) => otel_dump.context.trace_id as string))
    assert.ok(traceIds.has(trace_id.replaceAll('-', '')))
    const asked = received.find(({ otel_dump }) => otel_dump.attributes['gen_ai.usage.input_tokens'] === 100)!
    assert.deepEqual(asked['inputs'], { messages: [{ role: 'user', content: 'hi' }] })
    assert.equal(asked['output'].content, 'there')
  })

  describe('to a collector', () => {
    let collector: AnsweringServer
    let answers: ((answer: ServerResponse, spans: number) => void)[] = []
    let requests: { readonly asked: IncomingMessage; readonly spans: readonly string[] }[] = []
    const ok = (answer: ServerResponse) => void answer.end('{}')
    before(async () => {
      let body = ''
      collector = await startAnsweringServer((asked, answer) => {
        const request = JSON.parse(gunzipSync(Buffer.from(body, 'latin1')).toString()) as {
          readonly resourceSpans: readonly {
            readonly scopeSpans: readonly { readonly spans: readonly { readonly spanId: string }[] }[]
          }[]
        }
        const spans = request.resourceSpans.flatMap(({ scopeSpans }) =>
          scopeSpans.flatMap((ofScope) => ofScope.spans.map(({ spanId }) => spanId)),
        )
        requests.push({ asked, spans })
        ;(answers.shift() ?? ok)(answer, spans.length)
      })
      collector.onBody((text) => (body = text))
    })
    after(() => collector.stop())
    beforeEach(() => {
      answers = []
      requests = []
    })

    const withCalls = async (count: number): Promise<string> => {
      const project = someProject()
      const calls = Array.from({ length: count }, (_, n) => ({ id: `call ${n}` }))
      await service.in(project).calls.complete(calls)
      return project
    }

    const answering =
      (status: number, body: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      (answer: ServerResponse) =>
        void answer.writeHead(status, headers).end(JSON.stringify(body))

    it('sends batches of 512 spans, with the headers', async () => {
      const project = await withCalls(600)
      const { out } = await exporting(service, collector.url, project, { headers: ['x-key=a=b'] })
      assert.match(out, /sent 600 spans of 600 calls; resume with --after \d+/)
      assert.deepEqual(
        requests.map(({ asked, spans }) => [asked.url, asked.headers['x-key'], spans.length]),
        [
          ['/v1/traces', 'a=b', 512],
          ['/v1/traces', 'a=b', 88],
        ],
      )
      assert.equal(new Set(requests.flatMap(({ spans }) => spans)).size, 600)
    })

    it('repeats a batch while the collector is busy', async () => {
      const project = await withCalls(2)
      const busy = { 'retry-after': '0' }
      answers = [answering(503, {}, busy), answering(429, {}, busy), (answer) => answer.destroy()]
      const { code } = await exporting(service, collector.url, project)
      assert.equal(code, 0)
      assert.deepEqual(
        requests.map(({ spans }) => spans),
        Array.from({ length: 4 }, () => requests[0]!.spans),
      )
    })

    it('names refused spans, and continues', async () => {
      const project = await withCalls(600)
      answers = [
        answering(200, { partialSuccess: { rejectedSpans: '3', errorMessage: 'too old' } }),
        answering(400, { message: 'no service' }),
      ]
      const { code, out } = await exporting(service, collector.url, project)
      assert.equal(code, 1)
      assert.match(out, /refused 3 spans: too old\nrefused 88 spans: 400 no service\n/)
    })

    it('halves a batch that is too large', async () => {
      const project = await withCalls(3)
      answers = [answering(413)]
      const { code } = await exporting(service, collector.url, project)
      assert.equal(code, 0)
      assert.deepEqual(
        requests.map(({ spans }) => spans.length),
        [3, 2, 1],
      )
    })

    it('resumes after the last batch that was answered', async () => {
      const project = await withCalls(600)
      const resume = join(await scratchDirectory(), 'position')
      answers = [ok, answering(401, { message: 'no key' })]
      await assert.rejects(
        exporting(service, collector.url, project, { resume }),
        /the collector answered 401: no key; resume with --after \d+/,
      )
      const { out } = await exporting(service, collector.url, project, { resume })
      assert.match(out, /sent 88 spans/)
      assert.deepEqual(
        requests.map(({ spans }) => spans.length),
        [512, 88, 88],
      )
      const again = await exporting(service, collector.url, project, { resume })
      assert.match(again.out, /^no new calls; resume with --after/)
      assert.match(await readFile(resume, 'utf8'), /^\d+\n$/)
      assert.equal(requests.length, 3)
    })
  })
})
