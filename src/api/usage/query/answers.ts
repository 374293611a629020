import { decimalText } from '../../../domain/prices/decimal.js'
import type { Offset } from '../../../domain/usage/zone.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import { unpricedMembers } from '../../../application/calls/unpriced-models.js'
import { isCost, MEASURES, measureName, type Measure } from '../../../projections/usage/columns.js'
import type { Dimension } from '../../../projections/usage/query/groups-sql.js'
import {
  clamped,
  isUnknownCost,
  type UsageFigures,
  type UsageGroup,
} from '../../../projections/usage/query/queries.js'
import { sumOfFigures } from '../../../projections/usage/query/sums.js'
import { csvText, type CsvCell } from './csv.js'

export interface AnswerOptions {
  readonly groupBy: readonly Dimension[]
  readonly hasCosts: boolean
  /** Of the time zone of the buckets. */
  readonly offset: Offset
}

/** The response as one JSON object. */
export const usageQueryJson = (groups: readonly UsageGroup[], shown: AnswerOptions): string => {
  const rows = groups.flatMap((group) =>
    group.key === undefined ? [] : [`{"group":${keyJson(group.key, shown)},${periodsJson(group, shown)}}`],
  )
  const others = groups.find(({ key }) => key === undefined)
  const totals = totalsOf(groups)
  return `{"rows":[${rows.join(',')}],"others":${others === undefined ? 'null' : summaryJson(others, shown)},"totals":${summaryJson(totals, shown)}}`
}

/** A row a line; the last has no group where groups lie beyond the limit. */
export const usageQueryLines = (groups: readonly UsageGroup[], shown: AnswerOptions): string =>
  groups
    .map((group) =>
      group.key === undefined
        ? `{"group":null,"groups":${group.groups},${periodsJson(group, shown)}}\n`
        : `{"group":${keyJson(group.key, shown)},${periodsJson(group, shown)}}\n`,
    )
    .join('')

/** A row a group, with empty dimensions for the sum of the groups beyond the limit. Times have the offset of the zone. */
export const usageCsv = (groups: readonly UsageGroup[], shown: AnswerOptions): string => {
  const isCompared = groups.some(({ previous }) => previous !== undefined)
  const prefixes = isCompared ? ['', 'previous_'] : ['']
  const measures = MEASURES.filter((measure) => shown.hasCosts || !isCost(measure))
  const figureNames = [
    ...measures.map(measureName),
    ...(shown.hasCosts ? ['unpriced_model_count', 'unpriced_models'] : []),
  ]
  const header = [
    ...shown.groupBy.map(({ name }) => name),
    'groups',
    ...prefixes.flatMap((prefix) => figureNames.map((name) => `${prefix}${name}`)),
  ]
  const cellsOf = (figures: UsageFigures): readonly CsvCell[] => {
    const { unpriced, unpricedCount } = figures.pricing
    const { unpriced_models } = unpricedMembers(unpriced, unpricedCount)
    return [
      ...measures.map((measure) => plain(measureText(measure, figures, shown.hasCosts))),
      ...(shown.hasCosts ? [plain(String(unpricedCount)), { text: JSON.stringify(unpriced_models) }] : []),
    ]
  }
  const rows = groups.map(({ key, groups: count, figures, previous }) => [
    ...shown.groupBy.map((_, index) => keyCell(key?.[index], shown)),
    plain(String(count)),
    ...cellsOf(figures),
    ...(previous === undefined ? [] : cellsOf(previous)),
  ])
  return csvText(header, rows)
}

const plain = (text: string): CsvCell => (text === 'null' ? null : { plain: text })

const keyCell = (value: string | number | undefined, { offset }: AnswerOptions): CsvCell => {
  if (value === undefined) return null
  return typeof value === 'number' ? { plain: timeWithOffset(value, offset(value)) } : { text: value }
}

/** ISO 8601 has no seconds in an offset, as local times before 1900 have. */
const timeWithOffset = (at: number, offset: number): string => {
  if (offset % 60 !== 0) return timeWithOffset(at, 0)
  const local = new Date((at + offset) * 1000).toISOString().slice(0, 19)
  const minutes = Math.abs(offset) / 60
  const twoDigits = (count: number) => String(count).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
}

type Periods = Pick<UsageGroup, 'figures' | 'previous'>

const periodsJson = ({ figures, previous }: Periods, shown: AnswerOptions): string =>
  `"usage":${figuresJson(figures, shown)}${previous === undefined ? '' : `,"previous":${figuresJson(previous, shown)}`}`

const summaryJson = (group: Periods & Pick<UsageGroup, 'groups'>, shown: AnswerOptions): string =>
  `{"groups":${group.groups},${periodsJson(group, shown)}}`

const keyJson = (key: readonly (string | number)[], { groupBy }: AnswerOptions): string =>
  JSON.stringify(
    Object.fromEntries(
      groupBy.map(({ name }, index) => {
        const value = key[index]!
        return [name, typeof value === 'number' ? instantOf(new Date(value * 1000)) : value]
      }),
    ),
  )

const figuresJson = (figures: UsageFigures, { hasCosts }: AnswerOptions): string => {
  const members = MEASURES.map(
    (measure) => `"${measureName(measure)}":${measureText(measure, figures, hasCosts)}`,
  )
  const { unpriced, unpricedCount } = figures.pricing
  const unpricedText = JSON.stringify(unpricedMembers(unpriced, unpricedCount)).slice(1, -1)
  return `{${members.join(',')}${hasCosts ? `,${unpricedText}` : ''}}`
}

const measureText = (measure: Measure, figures: UsageFigures, hasCosts: boolean): string => {
  if (!isCost(measure)) return String(clamped(figures[measure]))
  return hasCosts && !isUnknownCost(measure, figures) ? decimalText(figures[measure]) : 'null'
}

export const totalsOf = (groups: readonly UsageGroup[]): Periods & Pick<UsageGroup, 'groups'> => ({
  groups: groups.reduce((sum, group) => sum + group.groups, 0),
  figures: sumOfFigures(groups.map(({ figures }) => figures)),
  previous: groups.some(({ previous }) => previous !== undefined)
    ? sumOfFigures(groups.flatMap(({ previous }) => previous ?? []))
    : undefined,
})
