import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { COUNTS, isFull } from '../../counts.js'
import { bodyShapes, routesOf } from '../../support/large-bodies.js'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'
import { saying, sendingRaw } from '../../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { startWatchedService, type WatchedService } from '../../support/watched-service.js'
import { accepted, textIn } from '../calls/given.js'
import { trainingClientOf } from '../training/given.js'
import { workerOf } from '../training/worker.js'
import { clientOf as wandbClientOf, put } from '../wandb/given.js'
import { operationsOf, type Description } from './description.js'
import { givenUpstream, SERVED } from './given-inference.js'
import { givenMember, givenState } from './given-state.js'
import { newMemory, type Memory } from './memory.js'
import { HOME } from './places.js'
import { shaped, shapedRequests } from './shapes.js'
import { senderTo } from './wire.js'

const SEED = COUNTS.fuzzSeed
const FULL_BYTES = 32_000_000
const MOST_BYTES = isFull ? FULL_BYTES : 200_000

/** Of values, in bytes. Some bodies hold them twice. */
const SIZES = isFull ? [500_000, 5_000_000, 15_000_000] : [10_000]

/** What takes longer, or more memory, is printed. */
const LONG_TURN_MS = 100
const MEMORY_PER_BYTE = 8
/** The memory of smaller bodies is less than that of what the engine does now and then. */
const MEASURED_BYTES = 5_000_000
const MIB = 1_048_576

describe(`large bodies and answers of many shapes (FUZZ_SEED=${SEED})`, () => {
  let service: WatchedService
  let description: Description
  let memory: Memory
  let upstream: ScriptedUpstream
  let receiver: Receiver
  let sender: ReturnType<typeof senderTo>
  let ids: Readonly<Record<string, string>>
  const [entity, project] = HOME.split('/') as [string, string]
  const problems: string[] = []
  let turn = SEED

  before(async () => {
    upstream = await startUpstream(saying(['Hello']))
    receiver = await startReceiver((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    service = await startWatchedService({
      TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
      TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    })
    description = (await service.send('GET', '/openapi.json')).json<Description>()
    sender = senderTo(service.address, 1)
    await service.teams.create('home')
    const member = await givenMember(service)
    memory = newMemory(new Set(['admin', 'member', ...member.ids]))
    const areas = new Map(operationsOf(description).map(({ template, area }) => [template, area]))
    const areaOf = (path: string) => areas.get(path.replace(`/v2/${HOME}/`, '/v2/{entity}/{project}/')) ?? ''
    await givenState(service, areaOf, memory, 0)
    await givenUpstream(service, memory, upstream.baseUrl)
    ids = await givenTraining()
    await wandbClientOf(service, HOME).init('r')
    service.look()
  })
  after(async () => {
    sender.close()
    await service.remove()
    await upstream.close()
    await receiver.stop()
  })

  /** Training at home, and a job that a worker has claimed. */
  const givenTraining = async () => {
    const worker = workerOf(service, 'base')
    await worker.claim()
    const client = trainingClientOf(service, HOME)
    const model_id = textIn(await client.createModel('agent', 'base'), 'id')
    await client.createRl(model_id, [])
    const { id, lease_id } = (await worker.claim())!
    return { model_id, job_id: id, lease_id }
  }

  /** Does something large, and notes how long it held the loop and what memory it took. */
  const watched = async (name: string, bytes: number, act: () => Promise<string>): Promise<void> => {
    if (isFull) await service.rest()
    const answer = await act()
    if (isFull) await service.idle()
    const { longestTurn, memory: mib } = service.look()
    const ratio = (mib * MIB) / bytes
    const isHeavy = isFull && bytes >= MEASURED_BYTES && ratio > MEMORY_PER_BYTE
    if (longestTurn > LONG_TURN_MS || isHeavy || process.env['FUZZ_TELL'] !== undefined)
      console.log(
        `      ${name}, ${(bytes / 1e6).toFixed(1)} MB: turn ${longestTurn} ms, ${mib.toFixed(0)} MiB, ${ratio.toFixed(1)} × the body; ${answer}`,
      )
  }

  const isSound = (status: number, retryAfter: unknown): boolean =>
    status < 500 || (status === 503 && retryAfter !== undefined && retryAfter !== null)

  const post = async (path: string, body: string): Promise<string> => {
    const { status, headers, text } = await service.post(path, body)
    if (!isSound(status, headers.get('retry-after')))
      problems.push(`${path}: ${status} ${text.slice(0, 200)}`)
    return `${status} ${text.slice(0, 80)}`
  }

  it('are answered by all routes', async () => {
    const keys = { administrator: service.key }
    const operations = operationsOf(description).filter(({ requestBody }) => requestBody !== undefined)
    for (const [index, operation] of operations.entries()) {
      const requests = fc.sample(shapedRequests(operation, description, MOST_BYTES), {
        numRuns: COUNTS.shapedRequests,
        seed: SEED + index,
      })
      for (const request of requests) {
        const sent = shaped(request, memory, keys, ids)
        const name = `${operation.method} ${operation.template} ${request.shape}`
        await watched(name, sent.bytes!.length, async () => {
          const { status, headers, bytes } = await sender.send(sent)
          const text = bytes.toString('utf8', 0, 300)
          const isUpstreams = operation.template.startsWith('/v1/chat')
          if (!isSound(status, headers['retry-after']) && !isUpstreams)
            problems.push(`${name}: ${status} ${text} ${sent.bytes!.toString('utf8', 0, 300)}`)
          return `${status} ${text.slice(0, 80)}`
        })
      }
    }
    assert.deepEqual(problems, [])
  })

  /** A value of each shape, of sizes that take turns. */
  const values = function* (): Generator<readonly [string, string]> {
    for (const [shape, valueOf] of Object.entries(bodyShapes))
      yield [shape, valueOf(SIZES[turn++ % SIZES.length]!)]
  }

  for (const [route, bodyOf] of Object.entries(routesOf(HOME)))
    it(`are taken by ${route}`, async () => {
      for (const [shape, value] of values()) {
        const body = bodyOf(value)
        await watched(`${route} ${shape}`, body.length, () => post(route.split(' ')[0]!, body))
      }
      assert.deepEqual(problems, [])
    })

  it('are read back', async () => {
    for (const [path, body] of [
      ['/calls/query', { project_id: HOME, limit: 100 }],
      ['/calls/stream_query', { project_id: HOME }],
      ['/objs/query', { project_id: HOME }],
      ['/obj/read', { project_id: HOME, object_id: 'o', digest: 'latest' }],
      ['/feedback/query', { project_id: HOME }],
      [
        '/graphql',
        {
          query: `{ project(entityName: "${entity}", name: "${project}") { run(name: "r") { config summaryMetrics history } } }`,
        },
      ],
    ] as const)
      await watched(`read of ${path}`, MEASURED_BYTES, () => post(path, JSON.stringify(body)))
    assert.deepEqual(problems, [])
  })

  it('are recorded when upstreams send them', async () => {
    const complete = (stream: boolean) =>
      service.post('/v1/chat/completions', {
        model: SERVED,
        stream,
        messages: [{ role: 'user', content: 'x' }],
      })
    for (const [shape, value] of values()) {
      const message = `{"role":"assistant","content":${JSON.stringify(value)},"more":${value}}`
      const choices = (key: string) => `{"id":"c","model":"echo","choices":[{"index":0,"${key}":${message}}]}`
      for (const [how, type, text] of [
        ['any answer', 'application/json', value],
        ['an answer', 'application/json', choices('message')],
        ['an event', 'text/event-stream', `data: ${choices('delta')}\n\ndata: [DONE]\n\n`],
        ['many events', 'text/event-stream', eventsOf(value)],
      ] as const) {
        upstream.behave(sendingRaw(type, text))
        await watched(
          `upstream, ${how}, ${shape}`,
          text.length,
          async () => `${(await complete(type === 'text/event-stream')).status}`,
        )
      }
    }
    upstream.behave(saying(['Hello']))
    assert.equal((await complete(false)).status, 200)
  })

  it('are ignored when webhooks answer with them', async () => {
    for (const [shape, value] of values()) {
      receiver.behave((socket) =>
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(value)}\r\n\r\n${value}`,
        ),
      )
      const body = JSON.stringify({ url: receiver.url, payload: '{}' })
      await watched(`webhook, ${shape}`, value.length, () => post('/api/teams/home/webhooks/test', body))
    }
    assert.deepEqual(problems, [])
  })

  it('are checked as manifests of artifacts', async () => {
    const { draft, manifestLink, commit } = wandbClientOf(service, HOME)
    for (const [shape, value] of values()) {
      const id = (await draft(`of-${shape.replaceAll(' ', '-')}`, { [`${value.length}`]: shape })).id
      const contents = shape.startsWith('wide') ? entriesOf(value.length) : (JSON.parse(value) as JsonObject)
      const { text, uploadUrl } = await manifestLink(id, {}, { version: 1, contents })
      await watched(`manifest, ${shape}`, text.length, async () => {
        const { status } = await put(uploadUrl, text)
        const committed = await commit(id)
        return `${status} ${JSON.stringify(committed).slice(0, 100)}`
      })
    }
  })

  it('leave a service that works, with no failed request in its log', async () => {
    assert.deepEqual(accepted(await service.send('GET', '/health')), { status: 'ok' })
    const failed = service
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'))
    assert.deepEqual(failed, [])
    assert.equal(await service.stop(), 0)
  })
})

/** A stream with one event for each 1,000 characters. */
const eventsOf = (text: string): string =>
  `${(text.match(/[^]{1,1000}/g) ?? [])
    .map((content) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`)
    .join('')}data: [DONE]\n\n`

/** Entries of a manifest that take so many bytes. */
const entriesOf = (bytes: number): JsonObject =>
  Object.fromEntries(
    Array.from({ length: Math.min(bytes / 60, 99_999) }, (_, at) => [
      `f${at}`,
      { digest: 'rL0Y20zC+Fzt72VPzMSk2A==', size: at },
    ]),
  )
