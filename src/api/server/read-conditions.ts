import type { IncomingHttpHeaders } from 'node:http'
import { invalid, type Failure } from '../../application/failure.js'
import type { AsOf, PresentConditions, ReadConditions } from '../../application/reading/reading.js'
import type { Services } from '../../application/services.js'
import { parseInstant } from '../../kernel/codec/instant.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { RouteRequest } from './route.js'
import type { HasReader } from './run.js'

/** The conditions in the headers of a request to a route that reads the present or the past. */
export const readConditionsIn = (headers: IncomingHttpHeaders): ReadConditions => ({
  asOf: asOfIn(headers),
  minPosition: minPositionIn(headers),
  stale: isStale(headers),
})

/** Whether a request reads an earlier state. */
export const isAsOf = (headers: IncomingHttpHeaders): boolean => headers[AS_OF] !== undefined

/** The conditions in the headers of a request to a route that only reads the present: refuses `Tallytree-As-Of`. */
export const presentConditionsIn = (headers: IncomingHttpHeaders): PresentConditions => {
  refuseAsOf(headers)
  return { minPosition: minPositionIn(headers), stale: isStale(headers) }
}

/** Refuses `Tallytree-As-Of` where only the present is supported, because ignoring it would return something else. */
export const refuseAsOf = (headers: IncomingHttpHeaders): void => {
  if (headers[AS_OF] !== undefined)
    throw unusable('Value error, this endpoint only reads and writes the present: omit it')
}

type ReadsProjects = Pick<Services, 'access' | 'reading'>
type Caller = Pick<RouteRequest, 'principal' | 'headers'>

/** The positions at which a request reads the projects that it refers to; undefined for those without access. */
export const positionsAsOf =
  ({ access, reading }: ReadsProjects, { principal, headers }: Caller) =>
  async (projectId: string): Promise<Position | undefined> =>
    access.canAccessProject(principal, projectId)
      ? reading.waitForAsOf(projectId, readConditionsIn(headers))
      : undefined

/** How a request that only reads the present reads the projects that it refers to. `isFresh` ignores `Tallytree-Stale`. */
export const presentReads = (
  { access, reading }: ReadsProjects,
  { principal, headers, reader }: Caller & HasReader,
  isFresh = false,
) => ({
  reader,
  positionOf: async (projectId: string): Promise<Position | undefined> =>
    access.canAccessProject(principal, projectId)
      ? reading.waitForNow(projectId, { ...presentConditionsIn(headers), ...(isFresh && { stale: false }) })
      : undefined,
})

const AS_OF = 'tallytree-as-of'
const POSITION = /^\d{1,100}$/
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/

const asOfIn = (headers: IncomingHttpHeaders): AsOf | undefined => {
  const text = headers[AS_OF]
  if (text === undefined) return undefined
  if (typeof text === 'string') {
    if (POSITION.test(text)) return { kind: 'position', position: BigInt(text) }
    const time = RFC_3339.test(text) ? parseInstant(text) : undefined
    if (time !== undefined) return { kind: 'time', time }
  }
  throw unusable(
    'Value error, input should be a log position in decimal digits, or a time as in 2026-01-31T09:30:00Z',
  )
}

const unusable = (msg: string): Failure =>
  invalid([{ loc: ['header', 'Tallytree-As-Of'], type: 'value_error', msg }])

const isStale = (headers: IncomingHttpHeaders): boolean => headers['tallytree-stale'] === 'allow'

const minPositionIn = (headers: IncomingHttpHeaders): Position => {
  const text = headers['tallytree-min-position']
  if (text === undefined) return 0n
  if (typeof text === 'string' && /^\d{1,19}$/.test(text)) return BigInt(text)
  throw invalid([
    {
      loc: ['header', 'Tallytree-Min-Position'],
      type: 'int_parsing',
      msg: 'Input should be a log position in decimal digits',
    },
  ])
}
