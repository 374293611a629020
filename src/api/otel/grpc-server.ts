import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import {
  Metadata,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  status,
  type handleUnaryCall,
  type MethodDefinition,
  type ServerInterceptor,
} from '@grpc/grpc-js'
import { authorizeRead } from '../../application/access/project-access.js'
import { defaultEntity, type Principal } from '../../application/principal.js'
import type { LoopWatch } from '../../kernel/loop-watch.js'
import type { MemoryAccount } from '../../kernel/memory-account.js'
import type { Log } from '../../kernel/ports/log.js'
import type { RequestSeconds } from '../../kernel/ports/metrics.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import { framesOf } from '../server/app.js'
import { FINISH_WITHIN_MS } from '../server/http-server.js'
import { MEMORY_PER_BYTE } from '../server/read-json.js'
import { failureOf } from '../server/respond.js'
import { keyInHeaders, requirePrincipal } from '../server/serve.js'
import { exportSpans, MAX_BYTES, type OtelServices } from './export.js'
import { exportResponse, otlpStatusOf, PROTOBUF, statusResponse } from './response.js'
import { projectInHeaders } from './routes.js'

export interface GrpcServer {
  readonly address: string
  /** Takes no more calls, and waits for those in flight. */
  readonly close: () => Promise<void>
}

interface GrpcServerParts {
  readonly services: OtelServices
  readonly memory: MemoryAccount
  readonly log: Log
  readonly requestSeconds: RequestSeconds
  readonly loop: LoopWatch
}

/** Calls of a connection that are served at once: their messages are read before memory is reserved for them. */
const MOST_CALLS = 16

/** The OTLP/gRPC receiver, without TLS: spans are recorded as calls; metrics and logs are accepted and not kept. */
export const listenGrpc = async (
  parts: GrpcServerParts,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<GrpcServer> => {
  const principalOf = (headers: IncomingHttpHeaders): Principal => {
    const key = keyInHeaders(headers)
    return requirePrincipal(
      key === undefined ? undefined : parts.services.access.authenticate(key),
      undefined,
    )
  }
  const server = new Server({
    'grpc.max_receive_message_length': MAX_BYTES,
    'grpc.max_concurrent_streams': MOST_CALLS,
    interceptors: [refuseStrangers(principalOf)],
  })
  const [traces, metrics, logs] = [
    methodOf('trace', 'Trace'),
    methodOf('metrics', 'Metrics'),
    methodOf('logs', 'Logs'),
  ]
  server.addService(
    { traces, metrics, logs },
    { traces: exporting(parts, principalOf, traces.path), metrics: ignoring, logs: ignoring },
  )
  const named = host.includes(':') ? `[${host}]` : host
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`${named}:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
      const should = 'set TALLYTREE_HOST or TALLYTREE_OTLP_GRPC_PORT'
      if (error === null) resolve(bound)
      else reject(new OperatorError(`cannot listen at ${named}:${port}: ${error.message}; ${should}`))
    }),
  )
  return { address: `http://${named}:${bound}`, close: () => close(server) }
}

const methodOf = (folder: string, service: string): MethodDefinition<Buffer, Buffer> => ({
  path: `/opentelemetry.proto.collector.${folder}.v1.${service}Service/Export`,
  requestStream: false,
  responseStream: false,
  requestSerialize: asItIs,
  requestDeserialize: asItIs,
  responseSerialize: asItIs,
  responseDeserialize: asItIs,
})

const asItIs = (message: Buffer): Buffer => message

const headersOf = (metadata: Metadata): IncomingHttpHeaders => metadata.getMap() as IncomingHttpHeaders

type PrincipalOf = (headers: IncomingHttpHeaders) => Principal

/** Before the message is read, which may be large. */
const refuseStrangers =
  (principalOf: PrincipalOf): ServerInterceptor =>
  (_, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => {
            try {
              principalOf(headersOf(metadata))
              proceed(metadata)
            } catch (error) {
              call.sendStatus(statusOf(error))
            }
          },
        }),
    })

type Answering = handleUnaryCall<Buffer, Buffer>

const ignoring: Answering = (_, respond) => respond(null, exportResponse(PROTOBUF, undefined))

const exporting = (parts: GrpcServerParts, principalOf: PrincipalOf, path: string): Answering => {
  const { log, loop, requestSeconds } = parts
  return ({ request, metadata }, respond) => {
    const start = performance.now()
    const ended = loop.begin(() => path)
    const measure = (answered: number) => {
      ended()
      const labels = { method: 'grpc', route: path, status: `${Math.floor(answered / 100)}xx` }
      requestSeconds.observe(labels, (performance.now() - start) / 1000)
    }
    const requestId = randomUUID()
    exportMessage(parts, principalOf, request, headersOf(metadata), requestId).then(
      (response) => {
        measure(200)
        respond(null, response)
      },
      (error: unknown) => {
        const failure = failureOf(error)
        measure(otlpStatusOf(failure).status)
        const name = error instanceof Error ? error.name : typeof error
        if (failure === undefined)
          log.error('request.failed', { requestId, method: 'grpc', route: path, name, at: framesOf(error) })
        respond(statusOf(error))
      },
    )
  }
}

const exportMessage = async (
  { services, memory }: GrpcServerParts,
  principalOf: PrincipalOf,
  body: Buffer,
  headers: IncomingHttpHeaders,
  requestId: string,
): Promise<Buffer> => {
  const lease = memory.lease(defaultEntity(principalOf(headers)))
  try {
    await lease.reserve(body.length * MEMORY_PER_BYTE)
    const principal = principalOf(headers)
    const project = projectInHeaders(headers, principal)
    if (project !== undefined) authorizeRead(services.access, principal, project)
    const cause = { correlationId: requestId, causationId: requestId, actor: principal.userId }
    return (await exportSpans(services, { encoding: PROTOBUF, body, project, principal }, cause)).body
  } finally {
    lease.release()
  }
}

/** With the time of a retry where one helps, because exporters drop the spans without it. */
const statusOf = (error: unknown): { code: status; details: string; metadata: Metadata } => {
  const { code, message, retryAfter } = otlpStatusOf(failureOf(error))
  const metadata = new Metadata()
  if (retryAfter !== undefined)
    metadata.set('grpc-status-details-bin', statusResponse(PROTOBUF, code, message, retryAfter))
  return { code: status[status[code] as keyof typeof status], details: message, metadata }
}

/** `tryShutdown` waits for calls in flight. */
const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const cut = setTimeout(() => server.forceShutdown(), FINISH_WITHIN_MS)
    server.tryShutdown(() => {
      clearTimeout(cut)
      resolve()
    })
  })
