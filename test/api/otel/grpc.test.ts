import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import {
  Client,
  compressionAlgorithms,
  credentials,
  Metadata,
  status,
  type ClientOptions,
  type ServiceError,
} from '@grpc/grpc-js'
import { StoreUnavailable } from '../../../src/kernel/ports/event-store-errors.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'
import { callOf, inProtobuf, requestOf, someSpan, type OtlpRequest } from '../../support/otlp.js'
import { someProject } from '../shared-service.js'

const asItIs = (message: Buffer): Buffer => message

const TRACES = 'trace.v1.TraceService'

interface Call {
  readonly service?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly options?: ClientOptions
}

/** Calls `Export` and gives the response. */
const exporting = async (
  { otlpGrpcAddress }: TestService,
  message: Buffer,
  { service = TRACES, metadata = {}, options }: Call = {},
): Promise<Buffer> => {
  const client = new Client(new URL(otlpGrpcAddress!).host, credentials.createInsecure(), options)
  const sent = new Metadata()
  const all = { authorization: `Bearer ${ADMINISTRATOR_KEY}`, ...metadata }
  for (const [name, value] of Object.entries(all)) if (value !== '') sent.set(name, value)
  try {
    return await new Promise((resolve, reject) =>
      client.makeUnaryRequest(
        `/opentelemetry.proto.collector.${service}/Export`,
        asItIs,
        asItIs,
        message,
        sent,
        (error, response) => (error === null ? resolve(response!) : reject(error as Error)),
      ),
    )
  } finally {
    client.close()
  }
}

/** How a call fails. */
const failing = async (...call: Parameters<typeof exporting>): Promise<ServiceError> => {
  try {
    await exporting(...call)
  } catch (error) {
    return error as ServiceError
  }
  throw new Error('the call succeeded')
}

describe('OTLP over gRPC', () => {
  let service: TestService
  let isAway = false
  before(async () => {
    service = await startTestService(
      { TALLYTREE_OTLP_GRPC_PORT: '0' },
      undefined,
      undefined,
      (eventStore: EventStore): EventStore => ({
        ...eventStore,
        append: (...request) =>
          isAway ? Promise.reject(new StoreUnavailable('away')) : eventStore.append(...request),
      }),
    )
  })
  after(() => service.stop())

  const recorded = async (project: string, request: OtlpRequest) => {
    const [span] = request.resourceSpans[0]!.scopeSpans[0]!.spans
    return service.in(project).calls.read(callOf(span!))
  }

  it('records spans and answers with an empty response', async () => {
    const project = someProject()
    const request = requestOf([someSpan({ name: 'by gRPC' })])
    const response = await exporting(service, inProtobuf(request), { metadata: { project_id: project } })
    assert.equal(response.length, 0)
    assert.equal((await recorded(project, request)).op_name, 'by gRPC')
  })

  const basic = Buffer.from(`api:${ADMINISTRATOR_KEY}`).toString('base64')
  for (const [name, value] of [
    ['authorization', `Basic ${basic}`],
    ['wandb-api-key', ADMINISTRATOR_KEY],
    ['x-api-key', ADMINISTRATOR_KEY],
  ] as const)
    it(`accepts the key as ${name} ${value.slice(0, 5)}`, async () => {
      const metadata = { authorization: '', [name]: value, 'x-project-name': 'by-key' }
      const request = requestOf([someSpan()])
      await exporting(service, inProtobuf(request), { metadata })
      assert.notEqual(await recorded('default/by-key', request), null)
    })

  it('finds the project in the resource without metadata', async () => {
    const request = requestOf([someSpan()], { 'service.name': 'checkout' })
    await exporting(service, inProtobuf(request))
    assert.notEqual(await recorded('default/checkout', request), null)
  })

  for (const name of ['metrics.v1.MetricsService', 'logs.v1.LogsService'])
    it(`accepts what is sent to ${name}`, async () =>
      assert.equal((await exporting(service, Buffer.from('any'), { service: name })).length, 0))

  it('names rejected spans', async () => {
    const project = someProject()
    const request = requestOf([someSpan(), someSpan({ spanId: '' })])
    const response = await exporting(service, inProtobuf(request), { metadata: { project_id: project } })
    assert.match(response.toString('latin1'), /spans\[1\]: the span id should have 8 bytes/)
    assert.notEqual(await recorded(project, request), null)
  })

  it('refuses a call without a valid key', async () => {
    for (const key of ['', 'Bearer unknown'])
      assert.equal(
        (await failing(service, Buffer.alloc(0), { metadata: { authorization: key } })).code,
        status.UNAUTHENTICATED,
      )
  })

  it('refuses a project without access', async () => {
    await service.teams.create('own')
    const key = await service.teams.keyOf('own', 'grpc-member', 'member')
    const metadata = { authorization: `Bearer ${key}`, project_id: 'foreign/project' }
    const error = await failing(service, inProtobuf(requestOf([someSpan()])), { metadata })
    assert.equal(error.code, status.NOT_FOUND)
  })

  it('refuses what is not a request', async () => {
    const error = await failing(service, Buffer.from('{"resourceSpans":[]}'))
    assert.equal(error.code, status.INVALID_ARGUMENT)
    assert.match(error.details, /ExportTraceServiceRequest/)
  })

  it('records a span of 5 MiB and refuses one of 65 MiB', async () => {
    const project = someProject()
    const options = { 'grpc.max_send_message_length': -1 }
    const large = (mib: number) =>
      requestOf([
        someSpan({
          attributes: [{ key: 'input.value', value: { stringValue: 'long '.repeat((mib * 1_048_576) / 5) } }],
        }),
      ])
    const request = large(5)
    await exporting(service, inProtobuf(request), { metadata: { project_id: project }, options })
    assert.notEqual(await recorded(project, request), null)
    const tooLarge = await failing(service, inProtobuf(large(65)), { options })
    assert.equal(tooLarge.code, status.RESOURCE_EXHAUSTED)
    assert.match(tooLarge.details, /67108864/)
    assert.deepEqual(tooLarge.metadata.get('grpc-status-details-bin'), [])
  })

  it('refuses a message that is larger than the limit when it is decompressed', async () => {
    const options = {
      'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
      'grpc.max_send_message_length': -1,
    }
    const error = await failing(service, Buffer.alloc(65 * 1_048_576), { options })
    assert.equal(error.code, status.RESOURCE_EXHAUSTED)
    assert.ok(gzipSync(Buffer.alloc(65 * 1_048_576)).length < 1_048_576)
  })

  it('asks to retry while the event store is unavailable', async () => {
    const request = inProtobuf(requestOf([someSpan()]))
    isAway = true
    const error = await failing(service, request).finally(() => (isAway = false))
    assert.equal(error.code, status.UNAVAILABLE)
    const [details] = error.metadata.get('grpc-status-details-bin')
    const reader = new BinaryReader(details as Buffer)
    const read: unknown[] = []
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag()
      read.push(field, wire === WireType.Varint ? reader.int32() : reader.string())
    }
    assert.deepEqual(read.slice(0, 2), [1, status.UNAVAILABLE])
    assert.match(String(read.at(-1)), /google\.rpc\.RetryInfo/)
    await exporting(service, request)
  })

  it('finishes calls under way when it stops, and takes no more', async () => {
    let arrived = () => {}
    let proceed = () => {}
    const hasArrived = new Promise<void>((resolve) => (arrived = resolve))
    const mayProceed = new Promise<void>((resolve) => (proceed = resolve))
    const isSpan = ({ type }: { readonly type: string }) => type === 'CallStarted'
    const stopped = await startTestService(
      { TALLYTREE_OTLP_GRPC_PORT: '0' },
      undefined,
      undefined,
      (eventStore) => ({
        ...eventStore,
        append: async (...request) => {
          if (request[2].some(isSpan)) {
            arrived()
            await mayProceed
          }
          return eventStore.append(...request)
        },
      }),
    )
    const underWay = exporting(stopped, inProtobuf(requestOf([someSpan()])))
    await hasArrived
    const stopping = stopped.stop()
    assert.equal((await failing(stopped, Buffer.alloc(0))).code, status.UNAVAILABLE)
    proceed()
    assert.equal((await underWay).length, 0)
    await stopping
  })

  it('refuses to start at a port that is in use', async () => {
    const { port } = new URL(service.otlpGrpcAddress!)
    await assert.rejects(startTestService({ TALLYTREE_OTLP_GRPC_PORT: port }), /TALLYTREE_OTLP_GRPC_PORT/)
  })
})
