import type { IncomingHttpHeaders } from 'node:http'
import { authorizeRead, projectInHeader, projectInPath } from '../../application/access/project-access.js'
import { Failure } from '../../application/failure.js'
import { assignSpans, recordSpans, type AssignedSpans } from '../../application/otel/record-spans.js'
import { inTeam } from '../../application/otel/span-project.js'
import { defaultEntity } from '../../application/principal.js'
import type { Services } from '../../application/services.js'
import type { ReceivedSpan } from '../../domain/otel/span.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { anyKey } from '../server/authorization.js'
import { parseJsonBody, readBody } from '../server/read-json.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readDirectory, writeAuthorized } from '../server/route-kinds.js'
import { spansInJson } from './json-request.js'
import { spansInProtobuf } from './protobuf.js'
import { encodingOf, exportResponse, PROTOBUF, type OtlpEncoding, type PartialSuccess } from './response.js'
import { NotARequest } from './values.js'

/** The limit that OTLP 1.11 recommends, in bytes after decompression. */
const MAX_BYTES = 67_108_864

/** What clients add `/v1/traces` to, and the addresses of other services that they are made for. */
const BASES = ['', '/otel', '/agents/otel', '/api/public/otel', '/v2/:entity/:project/otel']

type OtelServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

/** The OTLP/HTTP receiver: spans are recorded as calls; metrics and logs are accepted and not kept. */
export const otelRoutes = (services: OtelServices): readonly AnyRoute[] => [
  ...BASES.map((base) => tracesRoute(services, `${base}/v1/traces`)),
  ...BASES.flatMap((base) => [ignoringRoute(`${base}/v1/metrics`), ignoringRoute(`${base}/v1/logs`)]),
]

interface Export extends AssignedSpans {
  readonly encoding: OtlpEncoding
}

const response = { schema: { type: 'string', format: 'binary' }, type: PROTOBUF }

const tracesRoute = (services: OtelServices, path: string): AnyRoute =>
  writeAuthorized<Export, undefined, undefined, never>(services, {
    method: 'post',
    path,
    summary:
      'Record spans of OpenTelemetry as calls: an ExportTraceServiceRequest in protobuf or JSON, of up to 64 MiB. Spans ' +
      'that cannot be recorded are counted in partial_success, and refuse no others.',
    bytes: true,
    errorFormat: 'otlp',
    errors: ['bad-request', 'too-large', 'unsupported-type'],
    response,
    authorization: { errors: ['not-found'], authorize: (request) => readExport(services, request) },
    handle:
      ({ spans, encoding }) =>
      async (cause) => {
        const { position, ...recorded } = await recordSpans(services)(spans, cause)
        return { body: exportResponse(encoding, partialSuccess(recorded)), type: encoding, position }
      },
  })

const readExport = async (services: OtelServices, request: RouteRequest): Promise<Export> => {
  const { headers, principal } = request
  const encoding = encodingOf(headers['content-type'])
  if (encoding === undefined)
    throw new Failure('unsupported-type', `Send OTLP with Content-Type ${PROTOBUF} or application/json.`)
  const project = projectOfRequest(request)
  if (project !== undefined) authorizeRead(services.access, principal, project)
  const body = await readBody(request.stream, request.memory, MAX_BYTES)
  const received = await spansIn(encoding, body)
  return { encoding, ...assignSpans(services, received, request.reauthenticate(), project) }
}

/** That of the path, or of a header. */
const projectOfRequest = ({ params, headers, principal }: RouteRequest): string | undefined => {
  if (params['project'] !== undefined) return projectInPath(params)
  const named = headerIn(headers, 'project_id') ?? headerIn(headers, 'x-project-name')
  return named === undefined ? undefined : inTeam(projectInHeader(named), defaultEntity(principal))
}

const headerIn = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

const spansIn = async (encoding: OtlpEncoding, body: Buffer): Promise<readonly ReceivedSpan[]> => {
  try {
    return encoding === PROTOBUF ? await spansInProtobuf(body) : await spansInJson(await parseJsonBody(body))
  } catch (error) {
    throw error instanceof NotARequest ? new Failure('bad-request', error.message) : error
  }
}

const MOST_MESSAGES = 20
const MOST_CHARACTERS = 4000

/** The first problems of a request; undefined without one. */
export const partialSuccess = ({
  rejected,
  problems,
}: {
  readonly rejected: number
  readonly problems: readonly string[]
}): PartialSuccess | undefined => {
  if (problems.length === 0) return undefined
  const more = problems.length - MOST_MESSAGES
  const told = problems.slice(0, MOST_MESSAGES).map((problem) => problem.slice(0, 400))
  const message = [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  return { rejected, message: message.slice(0, MOST_CHARACTERS).toWellFormed() }
}

/** Exporters of metrics and logs use the same address, and would report every refused batch. */
const ignoringRoute = (path: string): AnyRoute =>
  readDirectory<object, undefined, undefined, never>({
    method: 'post',
    path,
    summary: 'Accepts what exporters of OpenTelemetry send beside spans, and keeps nothing of it.',
    bytes: true,
    errorFormat: 'otlp',
    errors: ['unsupported-type'],
    response,
    authorization: anyKey,
    handle: ({ headers }) => {
      const encoding = encodingOf(headers['content-type']) ?? PROTOBUF
      return Promise.resolve({ body: exportResponse(encoding, undefined), type: encoding })
    },
  })
