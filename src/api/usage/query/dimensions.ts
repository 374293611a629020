import { calendarStarts, CALENDAR_UNITS, type CalendarUnit } from '../../../domain/usage/calendar.js'
import { microseconds, type Instant } from '../../../kernel/codec/instant.js'
import {
  DERIVED,
  DIMENSIONS,
  type Dimension,
  type UsageOrder,
} from '../../../projections/usage/query/groups-sql.js'
import { isCost, MEASURES, measureName } from '../../../projections/usage/columns.js'
import { Failure, invalidField } from '../../../application/failure.js'
import { requestedOffset } from '../timezone.js'
import { NAMED_DIMENSIONS, type UsageQueryRequest } from './codecs.js'

const MAX_DIMENSIONS = 3
const MAX_ORDERS = 8
const MAX_NAME = 256
const MAX_BUCKETS = 10_000

export interface UsageRange {
  readonly from: Instant
  readonly to: Instant
}

/** Validates the range; undefined where all calls are meant. */
export const rangeOf = (
  { start, end, compare }: Pick<UsageQueryRequest, 'start' | 'end' | 'compare'>,
  now: Instant,
): UsageRange | undefined => {
  if (start === null && compare !== null) throw requiresStart('to compare with the previous period')
  if (start === null && end === null) return undefined
  const range = { from: start ?? FIRST, to: end ?? (start !== null && start < now ? now : LAST) }
  if (range.from >= range.to)
    throw invalidField(['end'], 'value_error', 'Value error, end should be after start')
  return range
}

const FIRST = '1900-01-01T00:00:00.000000Z' as Instant
const LAST = '2299-12-31T23:59:59.999999Z' as Instant

const requiresStart = (why: string) =>
  invalidField(['start'], 'value_error', `Value error, start is required ${why}`)

/** Validates `group_by`. */
export const dimensionsOf = (
  { group_by, start, timezone }: Pick<UsageQueryRequest, 'group_by' | 'start' | 'timezone'>,
  range: UsageRange | undefined,
): readonly Dimension[] => {
  const names = group_by ?? []
  if (names.length > MAX_DIMENSIONS)
    throw invalidField(
      ['group_by'],
      'too_long',
      `List should have at most ${MAX_DIMENSIONS} items after validation`,
    )
  const offset = requestedOffset(timezone)
  return names.map((name, index): Dimension => {
    const at = ['group_by', index]
    if (names.indexOf(name) !== index)
      throw invalidField(at, 'value_error', 'Value error, each dimension should be given once')
    if (Object.hasOwn(DIMENSIONS, name)) return { name: name as keyof typeof DIMENSIONS }
    if (isAttribute(name) || isDerived(name)) return { name }
    if (!isUnit(name))
      throw invalidField(
        at,
        'value_error',
        `Value error, input should be one of ${NAMED_DIMENSIONS.join(', ')}, or attributes.<path>`,
      )
    if (start === null || range === undefined) throw requiresStart('to group by time')
    return { name, starts: startsOf(range, name, offset) }
  })
}

const isUnit = (name: string): name is CalendarUnit => (CALENDAR_UNITS as readonly string[]).includes(name)

const isDerived = (name: string): name is (typeof DERIVED)[number] =>
  (DERIVED as readonly string[]).includes(name)

const isAttribute = (name: string): name is `attributes.${string}` =>
  name.startsWith('attributes.') && name.length > 'attributes.'.length && name.length <= MAX_NAME

const startsOf = (
  { from, to }: UsageRange,
  unit: CalendarUnit,
  offset: Parameters<typeof calendarStarts>[3],
): readonly number[] => {
  const [first, last] = [from, to].map((at) => Number(microseconds(at)) / 1e6) as [number, number]
  const starts =
    (last - first) / SECONDS[unit] > MAX_BUCKETS
      ? []
      : calendarStarts(Math.floor(first), Math.ceil(last), unit, offset)
  if (starts.length > 0 && starts.length <= MAX_BUCKETS) return starts
  throw new Failure(
    'bad-request',
    `The range has more than ${MAX_BUCKETS} buckets of one ${unit}. Use longer buckets or a shorter range.`,
  )
}

const SECONDS = { hour: 3600, day: 86_400, week: 604_800, month: 2_592_000 } as const

/** Validates `sort_by`. By default times ascend, and what costs or uses most comes first. */
export const orderOf = ({
  sort_by,
  group_by,
  include_costs,
}: Pick<UsageQueryRequest, 'sort_by' | 'group_by' | 'include_costs'>): readonly UsageOrder[] => {
  const names = group_by ?? []
  if (sort_by === null || sort_by.length === 0)
    return [
      ...names.filter(isUnit).map((field) => ({ field, direction: 'asc' as const })),
      { field: include_costs ? 'total_cost' : 'total_tokens', direction: 'desc' },
    ]
  if (sort_by.length > MAX_ORDERS)
    throw invalidField(
      ['sort_by'],
      'too_long',
      `List should have at most ${MAX_ORDERS} items after validation`,
    )
  return sort_by.map(({ field, direction }, index) => {
    const name = MEASURES.find((measure) => measureName(measure) === field || measure === field)
    if (name === undefined && !names.includes(field))
      throw invalidField(
        ['sort_by', index, 'field'],
        'value_error',
        `Value error, input should be a member of group_by or one of ${MEASURES.map(measureName).join(', ')}`,
      )
    if (name !== undefined && isCost(name) && !include_costs)
      throw invalidField(
        ['sort_by', index, 'field'],
        'value_error',
        'Value error, sorting by cost requires include_costs',
      )
    return { field: names.includes(field) ? field : name!, direction }
  })
}
