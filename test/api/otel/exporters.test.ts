import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Context,
  type ContextManager,
  type DiagLogFunction,
} from '@opentelemetry/api'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  BasicTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base'
import { Metadata } from '@grpc/grpc-js'
import { generateText } from 'ai'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'
import { startUpstream } from '../../support/upstreams/upstream.js'
import { refusing } from '../../support/upstreams/behaviours.js'
import { someProject } from '../shared-service.js'

type Compression = 'gzip' | 'none'

/** What exporters write to the log of the program. */
const warnings: string[] = []

const noted: DiagLogFunction = (...said) => void warnings.push(said.join(' '))

/** Answers the first requests of an exporter itself, and passes the others on. */
const startFront = async (
  target: string,
  first: RequestListener,
): Promise<{ url: string; bodies: Buffer[]; close: () => void }> => {
  const bodies: Buffer[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const body = Buffer.concat(pieces)
      bodies.push(body)
      if (bodies.length === 1) return first(request, response)
      const headers = request.headers as Record<string, string>
      const { connection: _, 'transfer-encoding': __, 'content-length': ___, host: ____, ...others } = headers
      void fetch(`${target}${request.url!}`, { method: 'POST', headers: others, body }).then(
        async (answer) => {
          response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type')! })
          response.end(Buffer.from(await answer.arrayBuffer()))
        },
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, bodies, close: () => server.close() }
}

describe('exporters of npm', () => {
  let service: TestService
  before(async () => {
    service = await startTestService({ TALLYTREE_OTLP_GRPC_PORT: '0' })
    diag.setLogger(
      { error: noted, warn: noted, info: () => 0, debug: () => 0, verbose: () => 0 },
      DiagLogLevel.WARN,
    )
  })
  after(async () => {
    diag.disable()
    await service.stop()
  })
  beforeEach(() => (warnings.length = 0))

  const exporters: Readonly<
    Record<string, (project: string, compression: Compression, url?: string) => SpanExporter>
  > = {
    protobuf: (project, compression, url = service.address) =>
      new ProtobufExporter({ url: `${url}/otel/v1/traces`, ...httpOptions(project, compression) }),
    JSON: (project, compression, url = service.address) =>
      new JsonExporter({ url: `${url}/otel/v1/traces`, ...httpOptions(project, compression) }),
    gRPC: (project, compression) => {
      const metadata = new Metadata()
      metadata.set('authorization', `Bearer ${ADMINISTRATOR_KEY}`)
      metadata.set('project_id', project)
      const url = service.otlpGrpcAddress!
      return new GrpcExporter({ url, metadata, compression: compression as never })
    },
  }

  const httpOptions = (project: string, compression: Compression) => ({
    headers: { Authorization: `Bearer ${ADMINISTRATOR_KEY}`, project_id: project },
    compression: compression as never,
  })

  const callsOf = async (project: string) =>
    (await service.in(project).calls.query({ limit: 100 }).json()).calls

  /** Runs a program whose spans go to an exporter. */
  const traced = async (
    exporter: SpanExporter,
    run: (provider: BasicTracerProvider) => unknown,
  ): Promise<void> => {
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
    await run(provider)
    await provider.forceFlush()
    await provider.shutdown()
  }

  const oneSpan = (provider: BasicTracerProvider) =>
    provider
      .getTracer('test')
      .startSpan('step', { attributes: { 'input.value': 'question' } })
      .end()

  for (const [name, exporterTo] of Object.entries(exporters))
    for (const compression of ['none', 'gzip'] as const)
      it(`record a span in ${name} with compression ${compression}`, async () => {
        const project = someProject()
        await traced(exporterTo(project, compression), oneSpan)
        const calls = await callsOf(project)
        assert.deepEqual(
          calls.map(({ op_name: op }) => op),
          ['step'],
        )
        assert.deepEqual(warnings, [])
      })

  for (const [name, exporterTo] of Object.entries(exporters))
    it(`warn of rejected spans in ${name}, and do not repeat them`, async () => {
      const project = someProject()
      const exporter = exporterTo(project, 'none')
      const withBadId: SpanExporter = {
        shutdown: () => exporter.shutdown(),
        export: (spans, done) =>
          exporter.export(
            spans.flatMap((span) => [span, withSpanId(span, '0000000000000000')]),
            done,
          ),
      }
      await traced(withBadId, oneSpan)
      assert.equal((await callsOf(project)).length, 1)
      assert.equal(warnings.length, 1)
      assert.match(warnings[0]!, /partial success.*the span id should have 8 bytes/i)
    })

  for (const name of ['protobuf', 'JSON'])
    it(`repeat a batch in ${name} after a 503 with Retry-After, which is recorded once`, async () => {
      const project = someProject()
      const front = await startFront(service.address, (_, response) =>
        response.writeHead(503, { 'retry-after': '1' }).end(),
      )
      await traced(exporters[name]!(project, 'gzip', front.url), oneSpan)
      front.close()
      assert.equal(front.bodies.length, 2)
      assert.equal((await callsOf(project)).length, 1)
    })

  it('record what the AI SDK sends, with its usage once', async () => {
    const project = someProject()
    const upstream = await startUpstream(
      refusing(200, {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1_760_000_000,
        model: 'chat-1',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 },
      }),
    )
    context.setGlobalContextManager(new AsyncContexts())
    await traced(exporters['JSON']!(project, 'none'), async (provider) => {
      const model = createOpenAICompatible({ name: 'scripted', baseURL: upstream.baseUrl }).chatModel(
        'chat-1',
      )
      const tracer = provider.getTracer('ai')
      await generateText({ model, prompt: 'Hi', experimental_telemetry: { isEnabled: true, tracer } })
    })
    context.disable()
    await upstream.close()
    const calls = await callsOf(project)
    const root = calls.find(({ parent_id: parent }) => parent === null)!
    assert.deepEqual(calls.map(({ op_name: op }) => op as string).sort(), [
      'ai.generateText',
      'ai.generateText.doGenerate',
    ])
    const { call_usage: usage } = await service.in(project).usage.ofTraces().json()
    const [used] = Object.values((usage as Record<string, object>)[root.id as string]!)
    assert.equal(used.prompt_tokens, 120)
    assert.equal(used.completion_tokens, 30)
    assert.equal(used.requests, 1)
  })
})

const withSpanId = (span: ReadableSpan, spanId: string): ReadableSpan =>
  Object.create(span, { spanContext: { value: () => ({ ...span.spanContext(), spanId }) } }) as ReadableSpan

/** Contexts that follow asynchronous calls. */
class AsyncContexts implements ContextManager {
  private readonly storage = new AsyncLocalStorage<Context>()
  active = (): Context => this.storage.getStore() ?? ROOT_CONTEXT
  with: ContextManager['with'] = (inner, run, self, ...args) =>
    this.storage.run(inner, () => run.apply(self as never, args))
  bind: ContextManager['bind'] = (_, target) => target
  enable = (): this => this
  disable = (): this => this
}
