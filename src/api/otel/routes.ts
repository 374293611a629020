import type { IncomingHttpHeaders } from 'node:http'
import { authorizeRead, projectInHeader, projectInPath } from '../../application/access/project-access.js'
import { Failure } from '../../application/failure.js'
import { inTeam } from '../../application/otel/span-project.js'
import { defaultEntity, type Principal } from '../../application/principal.js'
import { anyKey } from '../server/authorization.js'
import { readBody } from '../server/read-json.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { exportSpans, MAX_BYTES, type OtelServices } from './export.js'
import { encodingOf, exportResponse, PROTOBUF, type OtlpEncoding } from './response.js'

/** Base addresses to which exporters add `/v1/traces`, including the ones of SDKs for other services. */
const BASES = ['', '/otel', '/agents/otel', '/api/public/otel', '/v2/:entity/:project/otel']

/** The OTLP/HTTP receiver: spans are recorded as calls; metrics and logs are accepted and not kept. */
export const otelRoutes = (services: OtelServices): readonly AnyRoute[] => [
  ...BASES.map((base) => tracesRoute(services, `${base}/v1/traces`)),
  ...BASES.flatMap((base) => [ignoringRoute(`${base}/v1/metrics`), ignoringRoute(`${base}/v1/logs`)]),
]

interface ExportScope {
  readonly encoding: OtlpEncoding
  readonly project: string | undefined
}

const response = { schema: { type: 'string', format: 'binary' }, type: PROTOBUF }

const tracesRoute = (services: OtelServices, path: string): AnyRoute =>
  writeDirectory<ExportScope, undefined, undefined, never>({
    method: 'post',
    path,
    summary:
      'Record spans of OpenTelemetry as calls: an ExportTraceServiceRequest in protobuf or JSON, of up to 64 MiB. Spans ' +
      'that cannot be recorded are counted in partial_success, and refuse no others.',
    bytes: true,
    errorFormat: 'otlp',
    errors: ['bad-request', 'too-large', 'unsupported-type'],
    response,
    authorization: { errors: ['not-found'], authorize: (request) => scopeOf(services, request) },
    handle: async ({ stream, memory, reauthenticate, encoding, project }) => {
      const body = await readBody(stream, memory, MAX_BYTES)
      const request = { encoding, body, project, principal: reauthenticate() }
      return async (cause) => ({ ...(await exportSpans(services, request, cause)), type: encoding })
    },
  })

const scopeOf = (services: OtelServices, { params, headers, principal }: RouteRequest): ExportScope => {
  const encoding = encodingOf(headers['content-type'])
  if (encoding === undefined)
    throw new Failure('unsupported-type', `Send OTLP with Content-Type ${PROTOBUF} or application/json.`)
  const project =
    params['project'] === undefined ? projectInHeaders(headers, principal) : projectInPath(params)
  if (project !== undefined) authorizeRead(services.access, principal, project)
  return { encoding, project }
}

/** The project that headers name for all spans of a request. */
export const projectInHeaders = (
  { project_id: id, 'x-project-name': name }: IncomingHttpHeaders,
  principal: Principal,
): string | undefined => {
  const named = [id, name].find((value) => typeof value === 'string' && value !== '') as string | undefined
  return named === undefined ? undefined : inTeam(projectInHeader(named), defaultEntity(principal))
}

/** Exporters of metrics and logs share the base address, and would log an error for each refused batch. */
const ignoringRoute = (path: string): AnyRoute =>
  readDirectory<object, undefined, undefined, never>({
    method: 'post',
    path,
    summary: 'Accept metrics and logs of OpenTelemetry exporters, and store none of them.',
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
