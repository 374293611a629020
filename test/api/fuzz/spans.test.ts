import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { COUNTS } from '../../counts.js'
import {
  callOf,
  inProtobuf,
  requestOf,
  requestOfBytes,
  someSpan,
  spanInProtobuf,
  type OtlpRequest,
} from '../../support/otlp.js'
import { startTestService, type TestService } from '../../support/service.js'
import { JSON_TYPE, sendBytes } from '../http/raw.js'
import { spoilt, spoiltText } from './spoilt.js'

const SEED = COUNTS.fuzzSeed
const REQUESTS = COUNTS.spoiltSpanRequests
const AT_ONCE = 8

const FOLDER = join(import.meta.dirname, '../../samples/otlp')

const SAMPLES = readdirSync(FOLDER)
  .filter((file) => !/^(expected|meanings)\.json$/.test(file))
  .map((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as OtlpRequest)

const SPANS = SAMPLES.flatMap(({ resourceSpans }) =>
  resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
)

const PROTOBUF_TYPE = { 'content-type': 'application/x-protobuf' }

interface SpoiltRequest {
  readonly kind: string
  readonly headers: Record<string, string>
  readonly body: Buffer
  /** The spans that are recorded in any case; undefined where the whole request may be refused. */
  readonly neighbours?: readonly JsonObject[]
}

/** Bytes of which some are changed, left out or put in. */
const spoiltBytes = (bytes: Buffer): fc.Arbitrary<Buffer> =>
  fc
    .array(
      fc.record({
        at: fc.nat({ max: bytes.length }),
        removed: fc.constantFrom(0, 1, 1, 2, 100_000),
        inserted: fc.oneof(
          fc.uint8Array({ maxLength: 3 }),
          fc.constantFrom(Buffer.alloc(10, 0xff), Buffer.alloc(2000, 0x2a), Buffer.from([0xff, 0x7f])),
        ),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((changes) =>
      changes.reduce(
        (changed, { at, removed, inserted }) =>
          Buffer.concat([changed.subarray(0, at), inserted, changed.subarray(at + removed)]),
        bytes,
      ),
    )

/** With ids of their own for each request. */
const twoNeighbours = (): readonly [JsonObject, JsonObject] => [
  someSpan({ name: 'neighbour' }),
  someSpan({ name: 'neighbour' }),
]

const someOf = fc.constantFrom(...SPANS)
const anySample = fc.constantFrom(...SAMPLES)

const inJson = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

const requests: fc.Arbitrary<() => SpoiltRequest> = fc.oneof(
  someOf.chain(spoilt).map((span) => () => {
    const [first, last] = twoNeighbours()
    const body = inJson(requestOf([first, span as JsonObject, last]))
    return { kind: 'a span in JSON', headers: JSON_TYPE, body, neighbours: [first, last] }
  }),
  anySample
    .chain(({ resourceSpans: [{ resource } = {}] }) => spoilt(resource))
    .map((resource) => () => {
      const neighbours = twoNeighbours()
      const scopeSpans = [{ scope: resource, spans: neighbours }]
      const body = inJson({ resourceSpans: [{ resource, scopeSpans }] })
      return { kind: 'a resource in JSON', headers: JSON_TYPE, body, neighbours }
    }),
  someOf
    .chain((span) => spoiltBytes(Buffer.from(spanInProtobuf(span))))
    .map((span) => () => {
      const [first, last] = twoNeighbours()
      const body = requestOfBytes([spanInProtobuf(first), span, spanInProtobuf(last)])
      return { kind: 'a span in protobuf', headers: PROTOBUF_TYPE, body, neighbours: [first, last] }
    }),
  anySample
    .chain((sample) => spoiltText(JSON.stringify(sample)))
    .map((body) => () => ({ kind: 'a text', headers: JSON_TYPE, body })),
  anySample
    .chain((sample) => spoilt(sample))
    .map((value) => () => ({ kind: 'a value', headers: JSON_TYPE, body: inJson(value ?? null) })),
  anySample
    .chain((sample) => spoiltBytes(inProtobuf(sample)))
    .map((body) => () => ({ kind: 'bytes', headers: PROTOBUF_TYPE, body })),
)

describe(`${REQUESTS} spoilt requests of exporters (FUZZ_SEED=${SEED})`, () => {
  let service: TestService
  before(async () => (service = await startTestService()))
  after(() => service.stop())

  it('lose no neighbour and are never a failure of the service', async () => {
    const problems: string[] = []
    const expected = new Set<string>()
    const ask = async ({ kind, headers, body, neighbours }: SpoiltRequest) => {
      const { status, text } = await sendBytes(service, '/v2/fuzz/spans/otel/v1/traces', body, headers)
      for (const span of neighbours ?? []) expected.add(callOf(span))
      if (status !== 200 && (neighbours !== undefined || ![400, 413].includes(status)))
        problems.push(
          `${kind}: ${status} ${text.slice(0, 300)} for ${body.toString('latin1').slice(0, 3000)}`,
        )
    }
    for (let sent = 0; sent < REQUESTS; sent += 100) {
      const round = fc.sample(requests, { numRuns: Math.min(100, REQUESTS - sent), seed: SEED + sent })
      for (let next = 0; next < round.length; next += AT_ONCE)
        await Promise.all(round.slice(next, next + AT_ONCE).map((make) => ask(make())))
    }
    assert.deepEqual(problems.slice(0, 5), [], `${problems.length} problems`)
    assert.deepEqual(
      service.logged.filter(({ level }) => level === 'error'),
      [],
    )

    const recorded = new Set<string>()
    const lines = await service
      .in('fuzz/spans')
      .calls.stream({ filter: { op_names: ['neighbour'] } })
      .lines()
    for (const { id } of lines) recorded.add(id as string)
    assert.deepEqual(
      [...expected].filter((id) => !recorded.has(id)),
      [],
    )
  })

  it('are read and summed', async () => {
    const client = service.in('fuzz/spans')
    assert.ok((await client.calls.stream().lines()).length > 0)
    await client.usage.ofTraces().json()
    assert.equal((await client.threads()).status, 200)
  })
})
