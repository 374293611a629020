import { refusalOf, SpanRefusal, type ReceivedSpan } from '../../domain/otel/span.js'
import type { Cause } from '../../kernel/event.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import type { CallWrite } from '../calls/record.js'
import { writeCalls, type WriteResult } from '../calls/write-calls.js'
import { defaultEntity, type Principal } from '../principal.js'
import type { Services } from '../services.js'
import { spanWrites } from './span-call.js'
import { projectOfResource } from './span-project.js'

/** Spans with their projects, before they are recorded. */
export interface AssignedSpans {
  /** The projects of the spans that may be recorded. */
  readonly project: readonly string[]
  readonly spans: readonly AssignedSpan[]
}

type AssignedSpan = ReceivedSpan & { readonly project: string }

/**
 * Finds the project of each span: that of the request, or what its resource names. A span of a project without access
 * is refused, and no other.
 */
export const assignSpans = (
  { access }: Pick<Services, 'access'>,
  received: readonly ReceivedSpan[],
  principal: Principal,
  ofRequest: string | undefined,
): AssignedSpans => {
  const team = defaultEntity(principal)
  const named = new Map<ReceivedSpan['resource'], string>()
  const projects = new Set<string>()
  const spans = received.map(({ place, resource, scope, span }): AssignedSpan => {
    let project = ofRequest ?? named.get(resource)
    if (project === undefined) named.set(resource, (project = projectOfResource(resource, team)))
    const refusal =
      span instanceof SpanRefusal
        ? undefined
        : access.canAccessProject(principal, project)
          ? refusalOf(span)
          : `project ${project} not found, deleted, or the API key has no access to its team`
    if (refusal === undefined && !(span instanceof SpanRefusal)) projects.add(project)
    return { place, resource, scope, project, span: refusal === undefined ? span : new SpanRefusal(refusal) }
  })
  return { project: [...projects], spans }
}

/** The outcome for the spans of a request. */
export interface RecordedSpans {
  readonly position: Position | undefined
  readonly rejected: number
  /** Why spans were rejected, and which spans are already recorded with other content. */
  readonly problems: readonly string[]
}

type RecordingPorts = Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256'>

/** Records spans as calls. Spans that are recorded already write nothing. */
export const recordSpans =
  (ports: RecordingPorts) =>
  async (spans: readonly AssignedSpan[], cause: Cause): Promise<RecordedSpans> => {
    const problems: string[] = []
    let rejected = 0
    const recorded: { readonly place: string; readonly writes: readonly CallWrite[] }[] = []
    const pause = yielding()
    for (const { place, project, span, scope, resource } of spans) {
      if (span instanceof SpanRefusal) {
        rejected += 1
        problems.push(`${place}: ${span.reason}`)
      } else recorded.push({ place, writes: spanWrites(project, span, scope, resource) })
      await pause()
    }
    const { written, position } = await writeCalls(ports)(
      recorded.flatMap(({ writes }) => writes),
      cause,
    )
    let next = 0
    for (const { place, writes } of recorded) {
      const refused = firstRefusal(written.slice(next, (next += writes.length)))
      if (refused === 'too-large') rejected += 1
      if (refused !== undefined)
        problems.push(
          `${place}: ${refused === 'too-large' ? 'the span is too large for one event' : refused.reason}`,
        )
    }
    return { position, rejected, problems }
  }

const firstRefusal = (results: readonly WriteResult[]): WriteResult['refused'] =>
  results.find(({ refused }) => refused !== undefined)?.refused
