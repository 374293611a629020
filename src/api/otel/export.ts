import { Failure } from '../../application/failure.js'
import { assignSpans, recordSpans, type RecordedSpans } from '../../application/otel/record-spans.js'
import type { Principal } from '../../application/principal.js'
import type { Services } from '../../application/services.js'
import type { ReceivedSpan } from '../../domain/otel/span.js'
import type { Cause } from '../../kernel/event.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { parseJsonBody } from '../server/read-json.js'
import { acknowledgeProjects, prepareProjects } from '../server/write-steps.js'
import { spansInJson } from './json-request.js'
import { spansInProtobuf } from './protobuf.js'
import { exportResponse, PROTOBUF, type OtlpEncoding, type PartialSuccess } from './response.js'
import { NotARequest } from './values.js'

export type OtelServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

/** The limit that OTLP 1.11 recommends, in bytes after decompression. */
export const MAX_BYTES = 67_108_864

interface ExportRequest {
  readonly encoding: OtlpEncoding
  /** An `ExportTraceServiceRequest`, in clear. */
  readonly body: Buffer
  /** The project of all spans; if undefined, their resources name it. */
  readonly project: string | undefined
  /** Authenticated after the body was read. */
  readonly principal: Principal
}

interface Exported {
  /** An `ExportTraceServiceResponse`. */
  readonly body: Buffer
  readonly position: Position | undefined
}

/** Records the spans of a request as calls. */
export const exportSpans = async (
  services: OtelServices,
  { encoding, body, project, principal }: ExportRequest,
  cause: Cause,
): Promise<Exported> => {
  const received = await spansIn(encoding, body)
  refuseLargeSources(received)
  const assigned = assignSpans(services, received, principal, project)
  await prepareProjects(services, assigned.project, principal, cause)
  const recorded = await recordSpans(services)(assigned.spans, cause)
  return {
    body: exportResponse(encoding, partialSuccess(recorded)),
    position: acknowledgeProjects(services, assigned.project, recorded.position),
  }
}

const spansIn = async (encoding: OtlpEncoding, body: Buffer): Promise<readonly ReceivedSpan[]> => {
  try {
    return encoding === PROTOBUF ? await spansInProtobuf(body) : await spansInJson(await parseJsonBody(body))
  } catch (error) {
    throw error instanceof NotARequest ? new Failure('bad-request', error.message) : error
  }
}

/** Each span is recorded with its resource and scope, so that a small request could be recorded in terabytes. */
const MOST_SOURCE_CHARACTERS = 134_217_728

const refuseLargeSources = (received: readonly ReceivedSpan[]): void => {
  const sizes = new Map<ReceivedSpan['resource'], number>()
  const sizeOf = (source: ReceivedSpan['resource']): number => {
    const size = sizes.get(source) ?? JSON.stringify(source.attributes).length
    sizes.set(source, size)
    return size
  }
  let total = 0
  for (const { resource, scope } of received) total += sizeOf(resource) + sizeOf(scope)
  if (total > MOST_SOURCE_CHARACTERS)
    throw new Failure(
      'too-large',
      `The attributes of the resources and scopes, which are recorded with each span, exceed ${MOST_SOURCE_CHARACTERS} characters. Send fewer spans at once.`,
    )
}

const MOST_MESSAGES = 20
const MOST_CHARACTERS = 4000

/** The first problems of a request; undefined if there are none. */
const partialSuccess = ({ rejected, problems }: RecordedSpans): PartialSuccess | undefined => {
  if (problems.length === 0) return undefined
  const more = problems.length - MOST_MESSAGES
  const shown = problems.slice(0, MOST_MESSAGES).map((problem) => problem.slice(0, 400))
  const message = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  return { rejected, message: message.slice(0, MOST_CHARACTERS).toWellFormed() }
}
